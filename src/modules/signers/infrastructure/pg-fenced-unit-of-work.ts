import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Database } from '../../../platform/database/database.js';
import type { PgTx } from '../../../platform/database/pg-tx.js';
import { Fence, FencedUnitOfWork } from '../domain/fence.js';
import type { Lease } from '../domain/lease.js';
import { LeaseLost } from '../domain/lease-lost.js';

/**
 * The first statement of every critical transaction (docs/invariants.md, I2). FOR KEY SHARE makes a takeover, which updates a key column,
 * wait until this transaction commits. It does not block renewals. If this statement had to wait for a takeover, PostgreSQL reads the row
 * again and finds another owner. A takeover locks rows in the same order of keys, so the two cannot deadlock. The transaction reads
 * everything else in later statements, so it sees what the previous owner committed.
 */
const LOCK_LEASES = {
  name: 'fence_lock_leases',
  text: `
    SELECT l.chain_id, l.signer
      FROM (SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) ORDER BY 1, 2) AS h (chain_id, signer, fencing_token)
      JOIN signer_lease l
        ON l.chain_id = h.chain_id AND l.signer = h.signer AND l.fencing_token = h.fencing_token
     WHERE l.owner_node = $4 AND l.expires_at > clock_timestamp()
       FOR KEY SHARE OF l`,
};

class PgFence extends Fence {
  protected readonly leases: ReadonlyMap<string, Lease>;

  constructor(
    readonly tx: Tx,
    readonly nodeId: string,
    leases: readonly Lease[],
  ) {
    super();
    this.leases = new Map(leases.map((lease) => [signerKey(lease.signer), lease]));
  }
}

@Injectable()
export class PgFencedUnitOfWork extends FencedUnitOfWork {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    super();
  }

  async run<T>(leases: readonly Lease[], operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    const startedAt = this.clock.monotonicMs();
    const result = await this.database.transaction(async (tx) => {
      const lost = await this.lockAll(tx, leases);
      if (lost.length > 0) throw new LeaseLost(lost, operation);
      return work(new PgFence(tx, this.node.id, leases));
    });
    this.metrics.observe('db_commit_seconds', (this.clock.monotonicMs() - startedAt) / 1000, { op: operation });
    return result;
  }

  private async lockAll(tx: PgTx, leases: readonly Lease[]): Promise<Lease[]> {
    const { rows } = await tx.query<{ chain_id: string; signer: string }>(LOCK_LEASES, [
      leases.map((lease) => lease.signer.chainId),
      leases.map((lease) => lease.signer.address),
      leases.map((lease) => lease.token),
      this.node.id,
    ]);
    const locked = new Set(rows.map((row) => `${row.chain_id}:${row.signer}`));
    return leases.filter((lease) => !locked.has(signerKey(lease.signer)));
  }
}
