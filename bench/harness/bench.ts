import type { Finding } from './finding.js';
import type { Options } from './options.js';
import { Progress } from './progress.js';
import { type Sizes, sizesOf } from './sizes.js';

/** What every row is given. */
export class Bench {
  readonly sizes: Sizes;
  readonly progress = new Progress();
  /** Measurements that could not be made. */
  readonly failures: string[] = [];

  constructor(
    readonly options: Options,
    /** Where the results go. */
    readonly directory: string,
  ) {
    this.sizes = sizesOf(options);
  }

  /** One measurement, its result added to `samples`. When it fails, that is reported and the others go on. */
  async measure<T>(name: string, samples: T[], work: () => Promise<T>, inWords: (result: T) => string): Promise<void> {
    this.progress.say(`${name} ...`);
    try {
      const result = await work();
      samples.push(result);
      this.progress.say(`${name}: ${inWords(result)}`);
    } catch (error) {
      this.failed(name, error);
    }
  }

  failed(name: string, error: unknown): void {
    this.failures.push(`${name}: ${(error instanceof Error ? error.message : String(error)).trim()}`);
    this.progress.say(`${name} FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Calls `work` for each repetition, and says which one it is. */
  async repeat(work: (label: string) => Promise<void>): Promise<void> {
    const { repetitions } = this.options;
    for (let nth = 1; nth <= repetitions; nth += 1) await work(`${nth}/${repetitions}`);
  }
}

export interface Row {
  readonly title: string;
  run(bench: Bench): Promise<Finding[]>;
}
