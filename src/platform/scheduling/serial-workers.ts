import { groupBy } from '../../kernel/group-by.js';

/**
 * A fixed number of queues for each group of keys. A key always maps to the same queue, so tasks of one key run one after the other, in the order
 * of their calls; tasks of different queues run concurrently.
 */
export class SerialWorkers {
  private readonly tails: Promise<unknown>[] = [];
  /** Their places, in the order in which they came. */
  private readonly groups = new Map<string | null, number>();
  private unfinished = 0;

  /** @param groupOf keys whose tasks may take long have a group, so that no others wait for them */
  constructor(
    private readonly concurrency: number,
    private readonly groupOf: (key: string) => string | null = () => null,
  ) {
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new RangeError('concurrency must be at least 1');
  }

  workerOf(key: string): number {
    const group = this.groupOf(key);
    let place = this.groups.get(group);
    if (place === undefined) this.groups.set(group, (place = this.groups.size));
    return place * this.concurrency + (fnv1a(key) % this.concurrency);
  }

  /** Tasks waiting and running. */
  depth(): number {
    return this.unfinished;
  }

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    return this.enqueue(this.workerOf(key), task);
  }

  /**
   * Splits items by worker, in their order, and runs one task per worker that has items.
   * @throws AggregateError with the errors of the tasks, after all of them ended
   */
  async runGrouped<K>(
    items: readonly K[],
    keyOf: (item: K) => string,
    task: (items: K[]) => Promise<void>,
  ): Promise<void> {
    const groups = groupBy(items, (item) => this.workerOf(keyOf(item)));
    const outcomes = await Promise.allSettled(
      [...groups].map(([worker, group]) => this.enqueue(worker, () => task(group))),
    );
    const reasons = outcomes.flatMap((outcome): unknown[] => (outcome.status === 'rejected' ? [outcome.reason] : []));
    if (reasons.length > 0) throw new AggregateError(reasons, `${reasons.length} of ${groups.size} workers failed`);
  }

  /** Resolves when no task waits or runs, including tasks that were added meanwhile. */
  async idle(): Promise<void> {
    while (this.unfinished > 0) await Promise.all(this.tails);
  }

  private enqueue<T>(worker: number, task: () => Promise<T>): Promise<T> {
    this.unfinished += 1;
    const previous = this.tails[worker] ?? Promise.resolve();
    const result = previous.then(task);
    // The tail never rejects: the caller gets the failure, and the queue goes on.
    const ended = (): void => {
      this.unfinished -= 1;
    };
    this.tails[worker] = result.then(ended, ended);
    return result;
  }
}

/** FNV-1a, 32 bit: short, stable over versions, and even enough for a few dozen workers. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}
