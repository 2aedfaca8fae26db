import { InvalidInput } from '../kernel/errors.js';

/** One thing that is wrong. Says where and what, never the value: any value may be, or contain, a secret. */
export interface ConfigMistake {
  /** A key of the file (`chains[0].rpcUrls`), or the name of an environment variable. */
  readonly path: string;
  readonly problem: string;
}

/** Everything that is wrong with the configuration, at once. */
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

/** Text for a terminal: one line for each mistake. */
export function formatConfigMistakes(error: ConfigInvalid): string {
  const lines = error.mistakes.map(({ path, problem }) => `  ${path}: ${problem}`);
  return [`${error.message}:`, ...lines, error.advice].join('\n');
}
