import * as plain from '../runner/hooks.mjs';

/*
 * Node keeps a module for good. Code that runs while its module loads (a table, a constant) can only be tested with a fault in
 * it when it is loaded again: the specs are then imported with `?load=<n>`, and so is everything of ours that they import.
 */

const sources = new Map();

export async function resolve(specifier, context, next) {
  const [parentURL, load] = context.parentURL?.split('?') ?? [];
  const resolved = await plain.resolve(specifier, { ...context, parentURL }, next);
  if (!load || !resolved.url.startsWith('file:') || resolved.url.includes('/node_modules/')) return resolved;
  return { ...resolved, url: `${resolved.url}?${load}`, shortCircuit: true };
}

/** Compiles a file once, however often it is loaded. */
export async function load(url, context, next) {
  const [file] = url.split('?');
  if (!file.endsWith('.ts')) return next(url, context);
  if (!sources.has(file)) sources.set(file, await plain.load(file, context, next));
  return sources.get(file);
}
