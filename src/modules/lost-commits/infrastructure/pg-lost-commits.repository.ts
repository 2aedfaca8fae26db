import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Fence } from '../../signers/index.js';
import { LostCommitsRepository, type SignerOutlook } from '../domain/lost-commits.repository.js';
import {
  PROGRESS_COLUMNS,
  REQUEST_COLUMNS,
  type RequestedTx,
  type RequestRow,
  toManagedTx,
  toRequest,
} from '../../transactions/index.js';

/** Txs with the same payload to read at most: each unknown transaction needs only one of them. */
const MAX_CANDIDATES_TXS = 10_000;

/**
 * Runs once per lease. A fencing token above 1 shows that the lease was held before. Reads the txs in flight, like the recovery of a lane.
 */
export const OUTLOOK = {
  name: 'lost_outlook',
  text: `
    SELECT coalesce((SELECT c.next_nonce FROM signer_nonce_cursor c WHERE c.chain_id = w.chain_id AND c.signer = w.signer), 0) AS cursor,
           coalesce((SELECT l.fencing_token > 1 FROM signer_lease l WHERE l.chain_id = w.chain_id AND l.signer = w.signer), false)
             OR EXISTS (SELECT FROM signer_nonce_cursor c WHERE c.chain_id = w.chain_id AND c.signer = w.signer) AS acted,
           coalesce((SELECT r.epoch FROM signer_reconciliation r WHERE r.chain_id = w.chain_id AND r.signer = w.signer), 1)
             < coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1), 1) AS suspect,
           ARRAY(SELECT t.nonce FROM managed_tx t
                  WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state = 'ALLOCATED'
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_nonces,
           ARRAY(SELECT t.tx_id FROM managed_tx t
                  WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state = 'ALLOCATED'
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_txs,
           ARRAY(SELECT s.nonce FROM signer_nonce_allocation s
                  WHERE s.chain_id = w.chain_id AND s.signer = w.signer AND s.status = 'RELEASED' ORDER BY s.nonce) AS released
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

/**
 * A tx is sent after it was created, and a nonce above the cursor after the cursor was last aligned. Slow, because it reads all waiting
 * txs: for exceptions only. One query per state, because each state has its own index; for both states in one query PostgreSQL reads all
 * finished txs.
 */
export const WAITING_SINCE = {
  name: 'lost_waiting_since',
  text: `
    SELECT extract(epoch FROM greatest(waiting.since,
             (SELECT c.last_synced_at FROM signer_nonce_cursor c WHERE c.chain_id = $1 AND c.signer = $2)))::float8 AS since
      FROM (SELECT least(
              (SELECT min(t.created_at) FROM managed_tx t WHERE t.chain_id = $1 AND t.signer = $2 AND t.state = 'PENDING'),
              (SELECT min(t.created_at) FROM managed_tx t
                WHERE t.chain_id = $1 AND t.signer = $2 AND t.nonce >= 0 AND t.state = 'ALLOCATED')) AS since) waiting
     WHERE waiting.since IS NOT NULL`,
};

/** Reads all waiting txs, too: payloads have no index. */
export const WAITING_FOR = {
  name: 'lost_waiting_for',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}
      FROM managed_tx t
     WHERE t.chain_id = $1 AND t.signer = $2 AND t.state = 'PENDING'
       AND EXISTS (SELECT FROM unnest($3::text[], $4::numeric[], $5::text[]) AS p (to_address, value, data)
                    WHERE t.to_address IS NOT DISTINCT FROM p.to_address AND t.value = p.value AND t.data = decode(substr(p.data, 3), 'hex'))
     ORDER BY t.created_at, t.tx_id LIMIT ${MAX_CANDIDATES_TXS}`,
};

const RECONCILED = {
  name: 'lost_reconciled',
  text: `
    INSERT INTO signer_reconciliation AS r (chain_id, signer, epoch, fencing_token)
    SELECT w.chain_id, w.signer, coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1), 1), w.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS w (chain_id, signer, token)
        ON CONFLICT (chain_id, signer) DO UPDATE
       SET epoch = excluded.epoch, fencing_token = excluded.fencing_token, reconciled_at = clock_timestamp()`,
};

interface OutlookRow {
  cursor: string;
  acted: boolean;
  suspect: boolean;
  unsigned_nonces: string[];
  unsigned_txs: string[];
  released: string[];
}

@Injectable()
export class PgLostCommitsRepository extends LostCommitsRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]> {
    const { rows } = await this.database.query<OutlookRow>(OUTLOOK, signerColumns(signers));
    return signers.flatMap((signer, index) => {
      const row = rows[index];
      return row ? [toOutlook(signer, row)] : [];
    });
  }

  async waitingSince({ chainId, address }: SignerId): Promise<number | null> {
    const { rows } = await this.database.query<{ since: number }>(WAITING_SINCE, [chainId, address]);
    return rows[0]?.since ?? null;
  }

  async waitingFor({ chainId, address }: SignerId, payloads: readonly SentTransaction[]): Promise<RequestedTx[]> {
    const { rows } = await this.database.query<RequestRow>(WAITING_FOR, [
      chainId,
      address,
      payloads.map(({ to }) => to),
      payloads.map(({ value }) => value),
      payloads.map(({ data }) => data),
    ]);
    return rows.map((row) => ({ tx: toManagedTx(row), request: toRequest(row) }));
  }

  async reconciled(fence: Fence, signers: readonly SignerId[]): Promise<void> {
    const tokens = signers.map((signer) => fence.tokenFor(signer));
    await PgTx.of(fence.tx).query(RECONCILED, [...signerColumns(signers), tokens]);
  }
}

function toOutlook(signer: SignerId, row: OutlookRow): SignerOutlook {
  const unsigned = row.unsigned_nonces.map((nonce, i) => ({
    nonce: BigInt(nonce),
    txId: row.unsigned_txs[i] ?? null,
  }));
  const released = row.released.map((nonce) => ({ nonce: BigInt(nonce), txId: null }));
  return {
    signer,
    cursor: BigInt(row.cursor),
    open: [...unsigned, ...released],
    known: row.acted || row.suspect,
    suspect: row.suspect,
  };
}

function signerColumns(signers: readonly SignerId[]): [number[], string[]] {
  return [signers.map(({ chainId }) => chainId), signers.map(({ address }) => address)];
}
