import type { Pool } from 'pg';
import type { Hash } from '../../src/kernel/hex.js';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
import { Violation } from './violation.js';

/** What went to the network, and what the senders learned of it. Asks the database before every send (I5). */
export class SentLog {
  private readonly sends = new Map<Hash, { sent: number; refused: number }>();
  /** Found in the middle of a step, where nobody would see an error. */
  readonly violations: Violation[] = [];

  constructor(private readonly pool: Pool) {}

  async aboutToSend(hash: Hash): Promise<void> {
    const { rowCount } = await this.pool.query('SELECT FROM tx_attempt WHERE tx_hash = $1', [hash]);
    if (rowCount === 0) this.violations.push(new Violation('I5', `${hash} is sent, and is not committed`));
    const entry = this.sends.get(hash) ?? { sent: 0, refused: 0 };
    this.sends.set(hash, { ...entry, sent: entry.sent + 1 });
  }

  answered(hash: Hash, outcome: BroadcastOutcome['kind']): void {
    const entry = this.sends.get(hash);
    if (entry && (outcome === 'rejected' || outcome === 'not_sent')) entry.refused += 1;
  }

  /** Whether any send of it was answered otherwise than by a refusal, or not at all (I6). */
  mayBeOut(hash: Hash): boolean {
    const entry = this.sends.get(hash);
    return entry !== undefined && entry.sent > entry.refused;
  }
}
