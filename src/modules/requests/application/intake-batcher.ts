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

/**
 * Stores requests that arrive together with one statement and one commit: all that came in while the last insert ran. A single request does
 * not wait for others.
 */
@Injectable()
export class IntakeBatcher {
  private queue: Waiting[] = [];
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
   *   of them; then nothing is stored
   */
  submit(tx: NewTx, bytes: number, together: Together | null = null): Promise<Intake> {
    if (!this.hasRoomFor(bytes)) {
      const { maxQueued, maxQueuedBytes } = this.config;
      return Promise.reject(
        new Unavailable(
          'intake_full',
          'too many requests are waiting to be stored',
          'try again later with the same requestId',
          { maxQueued, maxQueuedBytes },
        ),
      );
    }
    this.bytes += bytes;
    return new Promise((resolve, reject) => {
      this.queue.push({ tx, bytes, together, resolve, reject });
      this.schedule();
    });
  }

  /** A single request always fits, because it has passed `server.bodyLimit`. It would wait for ever otherwise. */
  private hasRoomFor(bytes: number): boolean {
    if (this.queue.length >= this.config.maxQueued) return false;
    return this.bytes === 0 || this.bytes + bytes <= this.config.maxQueuedBytes;
  }

  private schedule(): void {
    if (this.scheduled || this.queue.length === 0 || this.inserting >= PARALLEL_INSERTS) return;
    this.scheduled = true;
    // Runs after the I/O of this turn of the event loop, so that requests that were read together are stored together.
    setImmediate(() => {
      this.scheduled = false;
      void this.insert(this.take());
      this.schedule();
    });
  }

  private take(): Waiting[] {
    let end = this.countThatFits();
    const together = this.queue[end - 1]?.together ?? null;
    while (together !== null && this.queue[end]?.together === together) end += 1;
    return this.queue.splice(0, end);
  }

  /** Returns at least one. */
  private countThatFits(): number {
    const most = Math.min(this.config.batchSize, this.queue.length);
    let bytes = 0;
    for (let count = 0; count < most; count += 1) {
      bytes += this.queue[count]?.bytes ?? 0;
      if (bytes > MAX_INSERT_BYTES) return Math.max(1, count);
    }
    return most;
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
