import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT = /from '(\.[^']+)\.js'/g;

/**
 * How many imports lie between each unit spec and the nearest of `sources`, for the specs that reach one, nearest first.
 * All paths are relative to the project.
 */
export function distances(sources) {
  const wanted = new Set(sources);
  const specs = readdirSync('test/unit', { recursive: true }).filter((file) => file.endsWith('.spec.ts'));
  return specs
    .map((file) => path.join('test/unit', file))
    .map((spec) => ({ spec, distance: distance(spec, wanted) }))
    .filter(({ distance }) => distance !== undefined)
    .sort((a, b) => a.distance - b.distance || a.spec.localeCompare(b.spec));
}

/** The specs with the fewest imports between them and `source`. */
export function nearestSpecs(source) {
  const related = distances([source]);
  return related.filter(({ distance }) => distance === related[0].distance).map(({ spec }) => spec);
}

function distance(spec, wanted) {
  const seen = new Map([[spec, 0]]);
  // A map shows what is added to it while it is walked.
  for (const [file, steps] of seen) {
    if (wanted.has(file)) return steps;
    for (const imported of importsOf(file)) if (!seen.has(imported)) seen.set(imported, steps + 1);
  }
  return undefined;
}

const known = new Map();

function importsOf(file) {
  const imports = known.get(file) ?? readImports(file);
  known.set(file, imports);
  return imports;
}

function readImports(file) {
  const names = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name]) => name);
  return names.map((name) => path.join(path.dirname(file), `${name}.ts`)).filter((name) => existsSync(name));
}
