import { Unavailable } from '../../kernel/errors.js';

/** Fruitless tries in a row after which the rest is not tried: each may cost a time-out. */
const PATIENCE = 6;

export interface Failure<Item> {
  readonly item: Item;
  readonly error: unknown;
}

/**
 * One that is in trouble must not fail those that share its work. When the whole fails, the two ends are tried alone, and then the
 * rest in halves, down to the one that fails by itself.
 *
 * What may pass by itself ({@link Unavailable}: a chain or a database that does not answer) may be everybody's trouble. When
 * neither end succeeds alone it is taken for that, so a chain that is away costs three time-outs, however many share the work.
 *
 * `work` is repeated with fewer items after it failed: it must leave alone what it did before.
 *
 * @returns the items that failed, or were not tried any more, each with its error; the others are done
 * @throws what the work on all items threw, when nothing succeeded
 */
export async function isolateFailures<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<Failure<Item>[]> {
  if (items.length === 0) return [];
  try {
    await work(items);
    return [];
  } catch (error) {
    if (items.length === 1) throw error;
    return new Separation(work, error).of(items);
  }
}

class Separation<Item> {
  private readonly failures: Failure<Item>[] = [];
  private succeeded = false;
  private inVain = 0;

  constructor(
    private readonly work: (items: readonly Item[]) => Promise<void>,
    private readonly cause: unknown,
  ) {}

  async of(items: readonly Item[]): Promise<Failure<Item>[]> {
    await this.divide(items.slice(0, 1));
    await this.divide(items.slice(-1));
    if (!this.succeeded && this.cause instanceof Unavailable) throw this.cause;
    await this.divide(items.slice(1, -1));
    if (!this.succeeded) throw this.cause;
    return this.failures;
  }

  private async divide(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    const error = await this.attempt(items);
    if (error === null) return;
    if (items.length === 1 || this.inVain >= PATIENCE) {
      this.failures.push(...items.map((item) => ({ item, error })));
      return;
    }
    const middle = Math.ceil(items.length / 2);
    await this.divide(items.slice(0, middle));
    await this.divide(items.slice(middle));
  }

  /** @returns the error, null after a success */
  private async attempt(items: readonly Item[]): Promise<unknown> {
    if (this.inVain >= PATIENCE) return this.cause;
    try {
      await this.work(items);
    } catch (error) {
      if (error instanceof Unavailable) this.inVain += 1;
      return error ?? this.cause;
    }
    this.inVain = 0;
    this.succeeded = true;
    return null;
  }
}
