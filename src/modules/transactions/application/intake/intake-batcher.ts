import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../../config/lockstep-config.js';
import { InvariantViolation, Unavailable } from '../../../../kernel/errors.js';
import { bisectOnFailure } from '../../../../platform/scheduling/bisect-on-failure.js';
import { type Intake, ManagedTxRepository, type NewTx } from '../../domain/managed-tx.repository.js';

/** Says which requests arrived together; each batch has its own. */
export type Together = symbol;

interface Waiting {
  readonly tx: NewTx;
  readonly bytes: number;
  readonly together: Together | null;
  readonly resolve: (intake: Intake) => void;
  readonly reject: (error: unknown) => void;
}

/** More than this are not sent in one insert, however few requests they are: it has to end within the statement time-out. */
const MAX_INSERT_BYTES = 8 * 1024 * 1024;
/** Inserts at work side by side: one keeps the database busy while the next is being collected. */
const PARALLEL_INSERTS = 2;

/**
 * Requests that arrive together are stored together: one statement and one commit for all that came in while the last
 * insert was under way. A lone request waits for nobody.
 */
@Injectable()
export class IntakeBatcher {
  private queue: Waiting[] = [];
  /** Of all requests that are not stored yet, in the queue or on their way. */
  private bytes = 0;
  private inserting = 0;
  private scheduled = false;

  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly config: IntakeConfig,
  ) {}

  /**
   * @param bytes about as much as the request takes in memory
   * @param together requests with the same one, submitted in one go, are stored by one statement: whoever sees the last of
   *   them sees them all, so that a lane takes them in their order
   * @throws Unavailable `intake_full` when more than `intake.maxQueued` requests wait in this process, or more than
   *   `intake.maxQueuedBytes` of them; nothing is stored
   */
  submit(tx: NewTx, bytes: number, together: Together | null = null): Promise<Intake> {
    if (!this.hasRoomFor(bytes)) {
      const { maxQueued, maxQueuedBytes } = this.config;
      return Promise.reject(
        new Unavailable(
          'intake_full',
          'too many requests are waiting to be stored',
          'try again later, with the same requestId',
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

  /** A single request always fits: it has passed `server.bodyLimit`, and would wait for ever otherwise. */
  private hasRoomFor(bytes: number): boolean {
    if (this.queue.length >= this.config.maxQueued) return false;
    return this.bytes === 0 || this.bytes + bytes <= this.config.maxQueuedBytes;
  }

  private schedule(): void {
    if (this.scheduled || this.queue.length === 0 || this.inserting >= PARALLEL_INSERTS) return;
    this.scheduled = true;
    // After the I/O of this turn of the event loop, so that requests read together go together.
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

  /** At least one. */
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
        (piece) => this.insertPiece(piece),
        async (poison, error) => poison.reject(error),
      );
    } catch (error) {
      // Settled promises ignore this; it reaches those that had no answer yet.
      for (const waiting of batch) waiting.reject(error);
    }
  }

  private async insertPiece(piece: readonly Waiting[]): Promise<Intake[]> {
    const results = await this.repository.insertPending(piece.map(({ tx }) => tx));
    if (results.length !== piece.length) {
      throw new InvariantViolation('intake answered for fewer requests than it was given');
    }
    results.forEach((result, index) => piece[index]?.resolve(result));
    return results;
  }
}
