import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../config/lockstep-config.js';
import { InvariantViolation, Unavailable } from '../../../kernel/errors.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import { type Intake, TxIntake, type NewTx } from '../../ledger/index.js';

/** Identifies requests that arrived together. Each batch has its own. */
export type Together = symbol;

interface Waiting {
  readonly tx: NewTx;
  readonly bytes: number;
  readonly together: Together | null;
  readonly resolve: (intake: Intake) => void;
  readonly reject: (error: unknown) => void;
}

/** The limit of one insert, with any number of requests: it must end within the statement time-out. */
const MAX_INSERT_BYTES = 8 * 1024 * 1024;
/** Parallel inserts: one keeps the database busy while the next is collected. */
const PARALLEL_INSERTS = 2;

/** What waits of one account, the oldest first. */
interface Queue {
  readonly waiting: Waiting[];
  bytes: number;
}

/**
 * Stores requests that arrive together with one statement and one commit: all that came in while the last insert ran. A single request does
 * not wait for others. Accounts take turns, and share what may wait (docs/invariants.md, F1): a flood of one delays and displaces no other's.
 */
@Injectable()
export class IntakeBatcher {
  /** By account, in the order of their turns; none is empty. */
  private readonly queues = new Map<string, Queue>();
  private queued = 0;
  /** The bytes of all requests that are queued or being inserted. */
  private bytes = 0;
  private inserting = 0;
  private scheduled = false;

  constructor(
    private readonly intake: TxIntake,
    private readonly config: IntakeConfig,
  ) {}

  /**
   * @param bytes about the memory that the request takes
   * @param together one statement stores all requests with the same value that are submitted in one go: a reader that sees the last of them
   *   sees all, so that a lane allocates their nonces in their order
   * @throws Unavailable `intake_full` when more than `intake.maxQueued` requests wait in this process, or more than `maxQueuedBytes`
   *   of them, and no account has more of them than this one, or when one that has less needs the room later; then it is not stored
   */
  submit(tx: NewTx, bytes: number, together: Together | null = null): Promise<Intake> {
    const { account } = tx.request.sender;
    if (!this.makeRoom(account, bytes)) return Promise.reject(this.full());
    this.bytes += bytes;
    this.queued += 1;
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(account) ?? { waiting: [], bytes: 0 };
      queue.waiting.push({ tx, bytes, together, resolve, reject });
      queue.bytes += bytes;
      this.queues.set(account, queue);
      this.schedule();
    });
  }

  /**
   * Displaces the newest requests of those that have most. Nothing is displaced for what has no room even so: what is being inserted keeps its own.
   * @returns false when this account would have as much as the one that has most, and there is no room
   */
  private makeRoom(account: string, bytes: number): boolean {
    const left = { queued: this.queued, bytes: this.bytes };
    if (this.hasRoomFor(bytes, left)) return true;
    const own = this.queues.get(account) ?? { waiting: [], bytes: 0 };
    const wanted = this.partOf({ count: own.waiting.length + 1, bytes: own.bytes + bytes });
    const kept = [...this.queues].map(([name, queue]) => ({
      name,
      queue,
      count: queue.waiting.length,
      bytes: queue.bytes,
    }));
    while (!this.hasRoomFor(bytes, left)) {
      let [largest] = kept;
      for (const one of kept) if (largest && this.partOf(one) > this.partOf(largest)) largest = one;
      if (largest === undefined || this.partOf(largest) <= wanted) return false;
      const displaced = largest.queue.waiting[largest.count - 1]?.bytes ?? 0;
      largest.count -= 1;
      largest.bytes -= displaced;
      left.queued -= 1;
      left.bytes -= displaced;
    }
    for (const { name, queue, count } of kept) this.displaceFrom(count, name, queue);
    return true;
  }

  /**
   * A single request always fits, because it has passed `server.bodyLimit`. It would wait for ever otherwise.
   * @param left what would be queued, and the bytes in memory
   */
  private hasRoomFor(bytes: number, left: { readonly queued: number; readonly bytes: number }): boolean {
    if (left.queued >= this.config.maxQueued) return false;
    return left.bytes === 0 || left.bytes + bytes <= this.config.maxQueuedBytes;
  }

  /** Of the room, in count or in bytes, whichever is more. */
  private partOf({ count, bytes }: { readonly count: number; readonly bytes: number }): number {
    return Math.max(count / this.config.maxQueued, bytes / this.config.maxQueuedBytes);
  }

  private displaceFrom(count: number, account: string, queue: Queue): void {
    for (const { bytes, reject } of queue.waiting.splice(count)) {
      this.left(account, queue, 1, bytes);
      this.bytes -= bytes;
      reject(this.full());
    }
  }

  private left(account: string, queue: Queue, count: number, bytes: number): void {
    queue.bytes -= bytes;
    this.queued -= count;
    if (queue.waiting.length === 0) this.queues.delete(account);
  }

  private full(): Unavailable {
    const { maxQueued, maxQueuedBytes } = this.config;
    return new Unavailable(
      'intake_full',
      'too many requests are waiting to be stored',
      'try again later with the same requestId',
      { maxQueued, maxQueuedBytes },
    );
  }

  private schedule(): void {
    if (this.scheduled || this.queued === 0 || this.inserting >= PARALLEL_INSERTS) return;
    this.scheduled = true;
    // Runs after the I/O of this turn of the event loop, so that requests that were read together are stored together.
    setImmediate(() => {
      this.scheduled = false;
      const batch = this.take();
      if (batch.length > 0) void this.insert(batch);
      this.schedule();
    });
  }

  /** An equal share of each account, and what some leave of theirs for the others. Whose turn ends waits behind all others. */
  private take(): Waiting[] {
    const { batchSize } = this.config;
    const share = Math.max(1, Math.floor(batchSize / this.queues.size));
    const batch: Waiting[] = [];
    let bytes = 0;
    for (let [next] = this.queues; next !== undefined; [next] = this.queues) {
      const [account, queue] = next;
      const most = Math.min(share, batchSize - batch.length);
      const fitting = countThatFits(queue.waiting, most, MAX_INSERT_BYTES - bytes);
      // One at least, or what is too long would wait for ever.
      const count = batch.length === 0 ? Math.max(1, fitting) : fitting;
      if (count <= 0) break;
      const taken = queue.waiting.splice(0, withTheirGroup(queue.waiting, count));
      const takenBytes = taken.reduce((sum, one) => sum + one.bytes, 0);
      bytes += takenBytes;
      batch.push(...taken);
      this.queues.delete(account);
      this.queues.set(account, queue);
      this.left(account, queue, taken.length, takenBytes);
    }
    return batch;
  }

  private async insert(batch: readonly Waiting[]): Promise<void> {
    this.inserting += 1;
    try {
      await this.insertOrSplit(batch);
    } finally {
      this.inserting -= 1;
      for (const { bytes } of batch) this.bytes -= bytes;
      this.schedule();
    }
  }

  private async insertOrSplit(batch: readonly Waiting[]): Promise<void> {
    try {
      await bisectOnFailure(
        batch,
        (part) => this.insertPart(part),
        async (waiting, error) => waiting.reject(error),
      );
    } catch (error) {
      // Rejects the requests without a result. Settled promises ignore it.
      for (const waiting of batch) waiting.reject(error);
    }
  }

  private async insertPart(part: readonly Waiting[]): Promise<Intake[]> {
    const results = await this.intake.insertPending(part.map(({ tx }) => tx));
    if (results.length !== part.length) {
      throw new InvariantViolation('the insert returned fewer results than requests');
    }
    results.forEach((result, index) => part[index]?.resolve(result));
    return results;
  }
}

/** How many from the front, at most `most`. */
function countThatFits(waiting: readonly Waiting[], most: number, room: number): number {
  const end = Math.min(most, waiting.length);
  let bytes = 0;
  for (let count = 0; count < end; count += 1) {
    bytes += waiting[count]?.bytes ?? 0;
    if (bytes > room) return count;
  }
  return end;
}

/** `count`, and the rest of those that belong together with the last of them. */
function withTheirGroup(waiting: readonly Waiting[], count: number): number {
  const together = waiting[count - 1]?.together ?? null;
  let end = count;
  while (together !== null && waiting[end]?.together === together) end += 1;
  return end;
}
