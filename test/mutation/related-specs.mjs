import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Of values: a type reaches nothing. */
const IMPORT = /^(?:import|export) (?!type)[^;]*?from '(\.[^']+)\.js'/gm;
/** More than any number of imports. */
const FOREIGN = 1_000;
const SERVER = /from '(node:http|node:net|fastify)'/;

/**
 * The unit specs that reach one of `sources`, themselves or through other modules. All paths are relative to the project. A spec that
 * talks to a server depends on the time of the day: it counts only for what it imports itself.
 */
export function relatedSpecs(sources) {
  const wanted = new Set(sources);
  return allSpecs().filter((spec) => {
    const steps = distance(spec, wanted);
    return steps === 1 || (steps !== undefined && !usesServer(spec));
  });
}

/** The same, those that were written for the module of `source` first, and then by the number of imports between. */
export function nearestFirst(source) {
  return ranked(source).map(({ spec }) => spec);
}

/** Only those before which there is none. */
export function nearestSpecs(source) {
  const [first, ...rest] = ranked(source);
  if (first === undefined) return [];
  return [first, ...rest.filter(({ rank }) => rank === first.rank)].map(({ spec }) => spec);
}

function ranked(source) {
  const folder = source
    .replace(/^src\/(modules\/)?/, 'test/unit/')
    .split('/')
    .slice(0, 3)
    .join('/');
  const wanted = new Set([source]);
  const rank = (spec) => distance(spec, wanted) + (spec.startsWith(`${folder}/`) ? 0 : FOREIGN);
  return relatedSpecs([source])
    .map((spec) => ({ spec, rank: rank(spec) }))
    .sort((a, b) => a.rank - b.rank);
}

function allSpecs() {
  const files = readdirSync('test/unit', { recursive: true }).filter((file) => file.endsWith('.spec.ts'));
  return files.map((file) => path.join('test/unit', file));
}

function distance(spec, wanted) {
  for (const [file, steps] of reach(spec)) if (wanted.has(file)) return steps;
  return undefined;
}

function usesServer(spec) {
  return [...reach(spec).keys()].some((file) => file.startsWith('test') && modules.get(file).isServer);
}

const reached = new Map();

/** What a spec imports, itself and through other modules, with the number of imports between. */
function reach(spec) {
  const known = reached.get(spec);
  if (known) return known;
  const seen = new Map([[spec, 0]]);
  // A map shows what is added to it while it is walked.
  for (const [file, steps] of seen) {
    for (const imported of moduleOf(file).imports) if (!seen.has(imported)) seen.set(imported, steps + 1);
  }
  reached.set(spec, seen);
  return seen;
}

const modules = new Map();

function moduleOf(file) {
  const module = modules.get(file) ?? readModule(file);
  modules.set(file, module);
  return module;
}

function readModule(file) {
  const text = readFileSync(file, 'utf8');
  const names = [...text.matchAll(IMPORT)].map(([, name]) => path.join(path.dirname(file), `${name}.ts`));
  return { imports: names.filter((name) => existsSync(name)), isServer: SERVER.test(text) };
}
