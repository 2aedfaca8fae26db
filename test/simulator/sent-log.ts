import type { Pool } from 'pg';
import type { Hash } from '../../src/kernel/hex.js';
import { Violation } from './violation.js';

/** What went to the network, and what the senders learned of it. Asks the database before every send (I5). */
export class SentLog {
  private readonly sends = new Map<Hash, { sent: number; refused: number }>();
  private readonly committed = new Set<Hash>();
  /** Found in the middle of a step, where nobody would see an error. */
  readonly violations: Violation[] = [];

  /** @param pool of one connection, so that answers come in the order of the questions: in a replay, too */
  constructor(private readonly pool: Pool) {}

  async aboutToSend(hashes: readonly Hash[]): Promise<void> {
    if (hashes.every((hash) => this.committed.has(hash))) return;
    const { rows } = await this.pool.query<{ hash: Hash }>(
      'SELECT tx_hash AS hash FROM tx_attempt WHERE tx_hash = ANY($1)',
      [hashes],
    );
    for (const { hash } of rows) this.committed.add(hash);
    for (const hash of hashes)
      if (!this.committed.has(hash)) this.violations.push(new Violation('I5', `${hash} is sent, and is not committed`));
  }

  /** To one endpoint; it may have arrived. */
  left(hash: Hash): void {
    this.of(hash).sent += 1;
  }

  /** The endpoint said to the sender that it did not take it. */
  refused(hash: Hash): void {
    this.of(hash).refused += 1;
  }

  /** Whether any send of it was answered otherwise than by a refusal, or not at all (I6). */
  mayBeOut(hash: Hash): boolean {
    const { sent, refused } = this.of(hash);
    return sent > refused;
  }

  private of(hash: Hash): { sent: number; refused: number } {
    const entry = this.sends.get(hash) ?? { sent: 0, refused: 0 };
    this.sends.set(hash, entry);
    return entry;
  }
}
