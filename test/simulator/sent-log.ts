import type { Pool } from 'pg';
import type { Hash } from '../../src/kernel/hex.js';
import { Violation } from './violation.js';

const ATTEMPTS = `
  SELECT a.tx_hash AS hash, coalesce(a.kind = 'payload' AND t.sub_state IN ('CANCELLING', 'REFUSED') AND l.owner_node = $2, false) AS "isCancelled"
    FROM tx_attempt a LEFT JOIN managed_tx t ON t.tx_id = a.tx_id
    LEFT JOIN signer_lease l ON l.chain_id = a.chain_id AND l.signer = a.signer
   WHERE a.tx_hash = ANY($1)`;

/** What went to the network, and what the senders learned of it. Asks the database before every send (I5). */
export class SentLog {
  private readonly sends = new Map<Hash, { sent: number; refused: number }>();
  private readonly committed = new Set<Hash>();
  /** Found in the middle of a step, where nobody would see an error. */
  readonly violations: Violation[] = [];

  /** @param pool of one connection, so that answers come in the order of the questions: in a replay, too */
  constructor(private readonly pool: Pool) {}

  /** @param sender a node of which nothing was ever held, so that what it sends was decided just now; null: another one */
  async aboutToSend(hashes: readonly Hash[], sender: string | null): Promise<void> {
    const { rows } = await this.pool.query<{ hash: Hash; isCancelled: boolean }>(ATTEMPTS, [hashes, sender]);
    for (const { hash } of rows) this.committed.add(hash);
    for (const hash of hashes)
      if (!this.committed.has(hash)) this.violations.push(new Violation('I5', `${hash} is sent, and is not committed`));
    for (const { hash, isCancelled } of rows)
      if (isCancelled) this.violations.push(new Violation('I6', `${hash} is sent by its owner, and is cancelled`));
  }

  /** The database lost it after its commit: a node that had the answer of that commit may send it afterwards. */
  wasCommitted(hash: Hash): void {
    this.committed.add(hash);
  }

  /** To one endpoint; it may have arrived. */
  left(hash: Hash): void {
    this.of(hash).sent += 1;
  }

  /** The endpoint said to the sender that it did not take it. */
  refused(hash: Hash): void {
    this.of(hash).refused += 1;
  }

  /** The database lost that it was taken once, and nobody shows it. */
  forgotten(hash: Hash): void {
    const entry = this.of(hash);
    entry.refused = entry.sent;
  }

  /** Whether it ever left: who refuses it in words may have kept it (I6). */
  mayBeOut(hash: Hash): boolean {
    return this.of(hash).sent > 0;
  }

  /** Whether any send of it was answered otherwise than by a refusal, or not at all. */
  mayBeInPool(hash: Hash): boolean {
    const { sent, refused } = this.of(hash);
    return sent > refused;
  }

  private of(hash: Hash): { sent: number; refused: number } {
    const entry = this.sends.get(hash) ?? { sent: 0, refused: 0 };
    this.sends.set(hash, entry);
    return entry;
  }
}
