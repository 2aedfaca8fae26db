import { Unavailable } from '../../kernel/errors.js';

/** Failed tries in a row after which the rest is not tried: each try may cost a time-out. */
const MAX_FAILED_TRIES = 6;

export interface Failure<Item> {
  readonly item: Item;
  readonly error: unknown;
}

/**
 * Runs work on many items so that one failing item does not fail the others (docs/invariants.md, I14). When the work on all items fails, it
 * is tried with the first and with the last item alone, then with the rest in halves, down to the item that fails by itself.
 *
 * A temporary error ({@link Unavailable}: a chain or a database does not answer) may concern all items. When it fails the first and the
 * last item, the rest is not tried, so a chain that does not answer costs three time-outs for any number of items.
 *
 * `work` is repeated with fewer items after a failure, so a second run must not change what the first one did.
 *
 * @returns the items that failed or were not tried, each with its error; the work on the others is done
 * @throws the error of the work on all items, when it succeeded for no item
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
    if (items.length === 1 || this.inVain >= MAX_FAILED_TRIES) {
      this.failures.push(...items.map((item) => ({ item, error })));
      return;
    }
    const middle = Math.ceil(items.length / 2);
    await this.divide(items.slice(0, middle));
    await this.divide(items.slice(middle));
  }

  /** @returns the error, null after a success */
  private async attempt(items: readonly Item[]): Promise<unknown> {
    if (this.inVain >= MAX_FAILED_TRIES) return this.cause;
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
