import * as typescript from './typescript-hooks.mjs';

/* TypeScript, and Jest's functions for specs that run without Jest around them. */

const GLOBALS = new URL('./jest-globals.mjs', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  return typescript.resolve(specifier, context, next);
}

export const { load } = typescript;
