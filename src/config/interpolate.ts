import { type ConfigMistake, pathTo, printableKey } from './config-mistakes.js';
import { isRawMap } from './read-config-file.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Interpolated {
  readonly value: unknown;
  readonly mistakes: readonly ConfigMistake[];
  /** Variables that the file refers to, set or not. */
  readonly variables: ReadonlySet<string>;
}

/** `$${` is a literal `${`. */
const REFERENCE = /\$(\$\{)|\$\{([^}]*)\}/g;
const VARIABLE = /^([A-Za-z_]\w*)(?::-([\s\S]*))?$/;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text of a parsed file. Works on values and not on the YAML text, so that a secret may
 * contain any character.
 */
export function interpolate(root: unknown, env: Environment): Interpolated {
  const mistakes: ConfigMistake[] = [];
  const variables = new Set<string>();

  const inText = (text: string, path: string): string =>
    text.replaceAll(REFERENCE, (_match, escaped: string | undefined, body: string | undefined) => {
      if (escaped !== undefined) return escaped;
      const [, name, fallback] = VARIABLE.exec(body ?? '') ?? [];
      if (name === undefined) {
        mistakes.push({ path, problem: 'has a ${…} that is not ${NAME} or ${NAME:-default}' });
        return '';
      }
      variables.add(name);
      const set = env[name];
      // As in a shell, `:-` also applies to a variable with an empty value.
      if (fallback !== undefined) return set === undefined || set === '' ? fallback : set;
      if (set === undefined) mistakes.push({ path, problem: `environment variable ${name} is not set` });
      return set ?? '';
    });

  const walk = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') return inText(value, path);
    if (Array.isArray(value)) return value.map((item: unknown, index) => walk(item, pathTo(path, index)));
    if (!isRawMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, walk(item, pathTo(path, printableKey(key)))]),
    );
  };

  return { value: walk(root, ''), mistakes, variables };
}
