import { InvalidInput } from '../kernel/errors.js';

/** One mistake: its path and the problem, never the value, because any value may contain a secret. */
export interface ConfigMistake {
  /** A key of the file (`chains[0].rpcUrls`), or the name of an environment variable. */
  readonly path: string;
  readonly problem: string;
}

/** `chains` + `0` + `rpcUrls` is written `chains[0].rpcUrls`. */
export function pathTo(parent: string, key: string | number): string {
  if (/^\d+$/.test(String(key))) return `${parent}[${key}]`;
  return parent === '' ? String(key) : `${parent}.${key}`;
}

/** Hides text that is not a name: it may be a key or a URL that was pasted by mistake. */
export function printableKey(key: string): string {
  return /^[\w-]{1,40}$/.test(key) ? key : '(unprintable key)';
}

/** All mistakes in the configuration. */
export class ConfigInvalid extends InvalidInput {
  constructor(readonly mistakes: readonly ConfigMistake[]) {
    super(
      'config_invalid',
      `the configuration has ${mistakes.length} mistake${mistakes.length === 1 ? '' : 's'}`,
      'correct the keys listed; lockstep.example.yaml shows every key with its default and meaning',
      { mistakes },
    );
  }
}

/** Formats the mistakes for a terminal, one per line. */
export function formatConfigMistakes(error: ConfigInvalid): string {
  const lines = error.mistakes.map(({ path, problem }) => `  ${path}: ${problem}`);
  return [`${error.message}:`, ...lines, error.advice].join('\n');
}
