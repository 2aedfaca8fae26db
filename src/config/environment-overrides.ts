import { didYouMean } from './closest-name.js';
import { fieldsOf, type ConfigClass, type ConfigField, typesOf, type Variants } from './config-fields.js';
import { type ConfigMistake, pathTo } from './config-mistakes.js';
import type { Environment } from './interpolate.js';
import { isRawMap, type RawMap } from './read-config-file.js';

export type ConfigKeys = readonly (string | number)[];

export interface Override {
  readonly variable: string;
  readonly keys: ConfigKeys;
  /** The same path as it is written in messages. */
  readonly path: string;
  readonly text: string;
}

const PREFIX = 'LOCKSTEP_';
/** Other code reads these by name. */
const NOT_SETTINGS: readonly string[] = ['LOCKSTEP_CONFIG', 'LOCKSTEP_CRASH_AT'];
/** Kubernetes sets these in every pod of the namespace of a Service called `lockstep`. */
const SERVICE_LINK = /^LOCKSTEP_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/;

/** Finds the key of each `LOCKSTEP_…` variable. `referenced`: variables that the file refers to. */
export function readOverrides(
  root: ConfigClass,
  env: Environment,
  referenced: ReadonlySet<string>,
): { overrides: Override[]; mistakes: ConfigMistake[] } {
  const overrides: Override[] = [];
  const mistakes: ConfigMistake[] = [];
  for (const variable of Object.keys(env).sort()) {
    const text = env[variable];
    if (text === undefined || !variable.startsWith(PREFIX) || NOT_SETTINGS.includes(variable)) continue;
    const keys = findKeys(root, variable.slice(PREFIX.length).split('_'));
    if (keys !== null) {
      const path = keys.reduce<string>((parent, key) => pathTo(parent, key), '');
      overrides.push({ variable, keys, path, text });
    } else if (!referenced.has(variable) && !isServiceLink(variable, env)) {
      mistakes.push({ path: variable, problem: `is not the name of a setting${suggestion(root, variable)}` });
    }
  }
  return { overrides, mistakes };
}

/** Writes the overrides into the values of the file, and creates missing maps and lists on the path. */
export function applyOverrides(root: RawMap, overrides: readonly Override[]): RawMap {
  return overrides.reduce<RawMap>((map, { keys, text }) => {
    const written = withValue(map, keys, text);
    return isRawMap(written) ? written : map;
  }, root);
}

function withValue(container: unknown, [key, ...rest]: ConfigKeys, text: string): unknown {
  if (key === undefined) return text;
  if (typeof key === 'number') {
    const list: unknown[] = Array.isArray(container) ? Array.from<unknown>(container) : [];
    list[key] = withValue(list[key], rest, text);
    return Array.from(list);
  }
  const map = isRawMap(container) ? container : {};
  return { ...map, [key]: withValue(map[key], rest, text) };
}

/** `['CHAINS', '0', 'RPC', 'URLS']` is `['chains', 0, 'rpcUrls']`. */
function findKeys(type: ConfigClass, words: readonly string[]): ConfigKeys | null {
  for (const [key, field] of fieldsOf(type)) {
    const own = upperSnake(key).split('_');
    if (!own.every((word, index) => words[index] === word)) continue;
    const below = findBelow(field, words.slice(own.length));
    if (below !== null) return [key, ...below];
  }
  return null;
}

function findBelow(field: ConfigField, words: readonly string[]): ConfigKeys | null {
  if (field.kind === 'value') return words.length === 0 ? [] : null;
  if (field.kind === 'section') return findInAny(field.type, words);
  const [index, ...rest] = words;
  // Two digits are enough, and a mistake such as CHAINS_1000000_ID must not create a list of a million entries.
  if (index === undefined || !/^\d{1,2}$/.test(index)) return null;
  const below = findInAny(field.type, rest);
  return below && [Number(index), ...below];
}

function findInAny(type: ConfigClass | Variants, words: readonly string[]): ConfigKeys | null {
  for (const one of typesOf(type)) {
    const keys = findKeys(one, words);
    if (keys !== null) return keys;
  }
  return null;
}

function suggestion(root: ConfigClass, variable: string): string {
  const indexes = variable.match(/(?<=_)\d+(?=_|$)/g) ?? [];
  const names = variableNames(root, PREFIX).map((name) => {
    let next = 0;
    return name.replaceAll('#', () => indexes[next++] ?? '0');
  });
  return didYouMean(variable, [...new Set(names)]);
}

/** All possible variables, with `#` for an index. */
function variableNames(type: ConfigClass, prefix: string): string[] {
  return [...fieldsOf(type)].flatMap(([key, field]) => {
    const name = prefix + upperSnake(key);
    if (field.kind === 'value') return [name];
    const prefixBelow = field.kind === 'section' ? `${name}_` : `${name}_#_`;
    return typesOf(field.type).flatMap((one) => variableNames(one, prefixBelow));
  });
}

function upperSnake(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}

function isServiceLink(variable: string, env: Environment): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined && SERVICE_LINK.test(variable);
}
