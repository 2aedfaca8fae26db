import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../config/lockstep-config.js';
import { InvariantViolation, Unavailable } from '../../../kernel/errors.js';
import { inPieces } from './in-pieces.js';
import { type Intake, ManagedTxRepository, type NewTx } from '../domain/managed-tx.repository.js';

/** Says which requests arrived together; each batch has its own. */
export type Together = symbol;

interface Waiting {
  readonly tx: NewTx;
  readonly together: Together | null;
  readonly resolve: (intake: Intake) => void;
  readonly reject: (error: unknown) => void;
}

/** Inserts at work side by side: one keeps the database busy while the next is being collected. */
const PARALLEL_INSERTS = 2;

/**
 * Requests that arrive together are stored together: one statement and one commit for all that came in while the last
 * insert was under way. A lone request waits for nobody.
 */
@Injectable()
export class IntakeBatcher {
  private queue: Waiting[] = [];
  private inserting = 0;
  private scheduled = false;

  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly config: IntakeConfig,
  ) {}

  /**
   * @param together requests with the same one, submitted in one go, are stored by one statement: whoever sees the last of
   *   them sees them all, so that a lane takes them in their order
   * @throws Unavailable `intake_full` when more than `intake.maxQueued` requests wait in this process; nothing is stored
   */
  submit(tx: NewTx, together: Together | null = null): Promise<Intake> {
    if (this.queue.length >= this.config.maxQueued) {
      return Promise.reject(
        new Unavailable(
          'intake_full',
          'too many requests are waiting to be stored',
          'try again later, with the same requestId',
        ),
      );
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ tx, together, resolve, reject });
      this.schedule();
    });
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
    let end = this.config.batchSize;
    const together = this.queue[end - 1]?.together ?? null;
    while (together !== null && this.queue[end]?.together === together) end += 1;
    return this.queue.splice(0, end);
  }

  private async insert(batch: readonly Waiting[]): Promise<void> {
    this.inserting += 1;
    try {
      await this.insertOrSplit(batch);
    } finally {
      this.inserting -= 1;
      this.schedule();
    }
  }

  private async insertOrSplit(batch: readonly Waiting[]): Promise<void> {
    try {
      await inPieces(
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
