import { Injectable } from '@nestjs/common';
import { type Hash, parseHash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { SentTransaction } from '../../chain/index.js';
import { type Fence, signerColumns, type SlotRef } from '../../signers/index.js';
import {
  type Books,
  type ChainBehind,
  LostCommitsRepository,
  type SignerOutlook,
} from '../domain/lost-commits.repository.js';
import type { RequestedTx } from '../domain/managed-tx.repository.js';
import { PROGRESS_COLUMNS, REQUEST_COLUMNS, type RequestRow, toRequested } from './managed-tx.rows.js';

export const NEWEST_EPOCH = `coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1), 1)`;
/** What the database may have lost of the signer in this row was not looked for yet. */
export function isSuspect(row: string): string {
  return `
           coalesce((SELECT r.epoch FROM signer_reconciliation r WHERE r.chain_id = ${row}.chain_id AND r.signer = ${row}.signer), 1) < ${NEWEST_EPOCH}`;
}
const IS_SUSPECT = isSuspect('w');

const MAY_BE_UNKNOWN = `(t.kind <> 'hold' OR ${IS_SUSPECT})`;

export const SUSPECTS = {
  name: 'lost_suspects',
  text: `
    SELECT w.position::int - 1 AS position FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position)
     WHERE ${IS_SUSPECT} ORDER BY w.position`,
};

/**
 * Runs once per lease. A fencing token above 1 shows that the lease was held before. Reads the txs in flight, like the recovery of a lane. What is out
 * with a nonce that an outside sender has, or gave back, is not ours, because no payload gets it; unless this is the past of another server. Else what a
 * pool hides of an outside sender would hold its signer back, and the no-op of a hold that is closed.
 */
export const OUTLOOK = {
  name: 'lost_outlook',
  text: `
    SELECT coalesce((SELECT c.next_nonce FROM signer_nonce_cursor c WHERE c.chain_id = w.chain_id AND c.signer = w.signer), 0) AS cursor,
           coalesce((SELECT l.fencing_token > 1 FROM signer_lease l WHERE l.chain_id = w.chain_id AND l.signer = w.signer), false)
             OR EXISTS (SELECT FROM signer_nonce_cursor c WHERE c.chain_id = w.chain_id AND c.signer = w.signer) AS acted,
           ${IS_SUSPECT} AS suspect, ${NEWEST_EPOCH} AS epoch,
           ARRAY(SELECT t.nonce FROM managed_tx t
                  WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state = 'ALLOCATED' AND ${MAY_BE_UNKNOWN}
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_nonces,
           ARRAY(SELECT t.tx_id FROM managed_tx t
                  WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state = 'ALLOCATED' AND ${MAY_BE_UNKNOWN}
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_txs,
           ARRAY(SELECT s.nonce FROM signer_nonce_allocation s
                  WHERE s.chain_id = w.chain_id AND s.signer = w.signer AND s.status = 'RELEASED'
                    AND (NOT s.outside OR ${IS_SUSPECT}) ORDER BY s.nonce) AS released,
           (SELECT t.nonce FROM managed_tx t
             WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
             ORDER BY t.chain_id, t.signer, t.nonce LIMIT 1) AS in_flight_from
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

export const HOLDERS = {
  name: 'lost_holders',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}
      FROM signer_nonce_allocation s
      JOIN managed_tx t ON t.tx_id = s.tx_id AND t.nonce = s.nonce
     WHERE s.chain_id = $1 AND s.signer = $2 AND s.nonce = ANY($3::bigint[]) AND s.status = 'HELD' AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')`,
};

export const NAMED = {
  name: 'lost_named',
  text: `
    SELECT DISTINCT c.options ->> 'txHash' AS hash FROM tx_command c
     WHERE c.tx_id = ANY($1::uuid[]) AND c.kind = 'consume' AND c.status <> 'REFUSED'`,
};

/** A no-op used the nonce of its payload, which may have another one by now. */
const LOST_ITS_NONCE = `coalesce(t.closing @> '{"as": "PENDING", "won": true}', false)`;

/**
 * A tx is sent after it was created. What was lost was committed after everything that was kept, so after the cursor was last aligned, too.
 * Slow, because it reads all waiting txs: for exceptions only. One query per state, because each state has its own index; for both states in
 * one query PostgreSQL reads all finished txs.
 */
export const WAITING_SINCE = {
  name: 'lost_waiting_since',
  text: `
    SELECT extract(epoch FROM greatest(waiting.since,
             (SELECT c.last_synced_at FROM signer_nonce_cursor c WHERE c.chain_id = $1 AND c.signer = $2)))::float8 AS since
      FROM (SELECT least(
              (SELECT min(t.created_at) FROM managed_tx t WHERE t.chain_id = $1 AND t.signer = $2 AND t.state = 'PENDING'),
              (SELECT min(t.created_at) FROM managed_tx t
                WHERE t.chain_id = $1 AND t.signer = $2 AND t.nonce >= 0
                  AND (t.state IN ('ALLOCATED', 'IN_MEMPOOL') OR t.state = 'MINED' AND ${LOST_ITS_NONCE}))) AS since) waiting
     WHERE waiting.since IS NOT NULL`,
};

/** Between the places of its permits, and before and behind them. In the places its data has zeros. */
const IS_THE_SAME_BESIDES_PERMITS = `
  octet_length(t.data) = octet_length(p.data) AND NOT EXISTS (
    SELECT FROM (SELECT at + bytes AS start, lead(at, 1, octet_length(t.data)) OVER (ORDER BY at, bytes) AS until
                   FROM (SELECT (place ->> 'at')::int AS at, (place ->> 'bytes')::int AS bytes
                           FROM jsonb_array_elements(t.options -> 'permits') AS permit, jsonb_array_elements(permit -> 'places') AS place
                         UNION ALL VALUES (0, 0)) places) rest
     WHERE until > start AND substr(t.data, start + 1, until - start) <> substr(p.data, start + 1, until - start))`;

const hasPayload = (state: string): string => `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}, t.created_at
      FROM managed_tx t
     WHERE t.chain_id = $1 AND t.signer = $2 AND ${state} AND t.to_address IS NOT DISTINCT FROM p.to_address AND t.value = p.value
       AND (t.data = p.data OR t.options ? 'permits' AND ${IS_THE_SAME_BESIDES_PERMITS})`;

/**
 * Reads all waiting txs, and all in flight: payloads have no index. What its client cancelled, or can never be sent, gets no other nonce. Who lost
 * a race does not hold its slot; what a replacement competes with gets it back. One query per kind, as for {@link WAITING_SINCE}. Bounded for each
 * payload by itself, so that those of one are not cut off because another has many.
 */
export const WITH_PAYLOAD = {
  name: 'lost_with_payload',
  text: `
    SELECT * FROM (
      SELECT DISTINCT ON (own.tx_id) own.*
        FROM (SELECT DISTINCT to_address, value, decode(substr(data, 3), 'hex') AS data
                FROM unnest($3::text[], $4::numeric[], $5::text[]) AS s (to_address, value, data)) p
       CROSS JOIN LATERAL (SELECT * FROM (${hasPayload(`t.state = 'PENDING'`)}
     UNION ALL ${hasPayload(`t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')`)}
       AND (t.state <> 'MINED' OR ${LOST_ITS_NONCE})
       AND t.kind = 'payload' AND coalesce(t.closing ->> 'as', 'PENDING') = 'PENDING'
       AND EXISTS (SELECT FROM signer_nonce_allocation s
                    WHERE s.chain_id = t.chain_id AND s.signer = t.signer AND s.nonce = t.nonce AND s.status = 'HELD' AND s.tx_id = coalesce(t.replaced_by, t.tx_id))) t
     ORDER BY t.data = p.data DESC, t.state = 'PENDING' DESC, t.created_at, t.tx_id LIMIT $6) own
       ORDER BY own.tx_id) t
     ORDER BY t.state = 'PENDING' DESC, t.created_at, t.tx_id`,
};

const RECONCILED = {
  name: 'lost_reconciled',
  text: `
    INSERT INTO signer_reconciliation AS r (chain_id, signer, epoch, fencing_token) VALUES ($1, $2, $3, $4)
        ON CONFLICT (chain_id, signer) DO UPDATE
       SET epoch = excluded.epoch, fencing_token = excluded.fencing_token, reconciled_at = clock_timestamp()`,
};

/**
 * That bytes never left a node is known of the past in which it was stored; in the one that is lost they may have left later. OFFSET 0 keeps the planner
 * from reading all attempts of the signer.
 */
export const DOUBT_UNSENT = {
  name: 'lost_doubt_unsent',
  text: `
    UPDATE tx_attempt a SET status = 'UNKNOWN', fencing_token = $3
      FROM managed_tx t CROSS JOIN LATERAL (
        SELECT u.chain_id, u.tx_hash FROM tx_attempt u
         WHERE u.signer = t.signer AND u.nonce = t.nonce AND u.chain_id = t.chain_id AND u.tx_id = t.tx_id AND u.status = 'UNSENT' OFFSET 0) unsent
     WHERE t.chain_id = $1 AND t.signer = $2 AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')
       AND NOT t.tx_id = ANY($4::uuid[]) AND a.chain_id = unsent.chain_id AND a.tx_hash = unsent.tx_hash`,
};

/** In the commit that gives the txs their nonces: an owner gives a permit only to a tx that waits. What is lost was made before. */
export const PERMITS_LOST = {
  name: 'lost_permits',
  text: `
    UPDATE permit_nonce g SET status = 'LOST', deadline = extract(epoch FROM clock_timestamp())::bigint + (t.options -> 'permits' -> g.position::int ->> 'ttl')::bigint
      FROM managed_tx t WHERE t.tx_id = g.tx_id AND g.tx_id = ANY($1::uuid[]) AND g.status = 'WANTED' AND t.options -> 'permits' -> g.position::int IS NOT NULL`,
};

/** Above the highest consumed slot are only those in flight. */
export const BOOKS = {
  name: 'lost_books',
  text: `
    SELECT c.signer IS NOT NULL AS begun, top.nonce, m.block_number, coalesce(c.origin, '{}') AS origin, c.behind
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position)
      LEFT JOIN signer_nonce_cursor c ON c.chain_id = w.chain_id AND c.signer = w.signer
      LEFT JOIN LATERAL (
        SELECT s.nonce, s.tx_id FROM signer_nonce_allocation s
         WHERE s.chain_id = w.chain_id AND s.signer = w.signer AND s.status = 'CONSUMED' ORDER BY s.nonce DESC LIMIT 1) top ON true
      LEFT JOIN managed_tx m ON m.tx_id = top.tx_id
     ORDER BY w.position`,
};

const CONSUMED_FROM = {
  name: 'lost_consumed_from',
  text: `
    SELECT s.nonce, s.tx_id FROM signer_nonce_allocation s
     WHERE s.chain_id = $1 AND s.signer = $2 AND s.nonce >= $3 AND s.status = 'CONSUMED' ORDER BY s.nonce LIMIT $4`,
};

const NOTE_ORIGIN = {
  name: 'lost_note_origin',
  text: `UPDATE signer_nonce_cursor SET origin = $4, fencing_token = $3 WHERE chain_id = $1 AND signer = $2`,
};

const MARK_BEHIND = {
  name: 'lost_mark_behind',
  text: `
    UPDATE signer_nonce_cursor SET behind = $4, fencing_token = $3,
           behind_since = CASE WHEN $4::jsonb IS NOT NULL THEN coalesce(behind_since, clock_timestamp()) END
     WHERE chain_id = $1 AND signer = $2`,
};

interface BooksRow {
  begun: boolean;
  nonce: string | null;
  block_number: string | null;
  origin: string[];
  behind: ChainBehind | null;
}

interface OutlookRow {
  cursor: string;
  acted: boolean;
  suspect: boolean;
  epoch: string;
  unsigned_nonces: string[];
  unsigned_txs: string[];
  released: string[];
  in_flight_from: string | null;
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

  async holders({ chainId, address }: SignerId, nonces: readonly Nonce[]): Promise<RequestedTx[]> {
    const { rows } = await this.database.query<RequestRow>(HOLDERS, [chainId, address, nonces]);
    return rows.map(toRequested);
  }

  async named(holdIds: readonly string[]): Promise<ReadonlySet<Hash>> {
    const { rows } = await this.database.query<{ hash: string }>(NAMED, [holdIds]);
    return new Set(rows.map(({ hash }) => parseHash(hash)));
  }

  async waitingSince({ chainId, address }: SignerId): Promise<number | null> {
    const { rows } = await this.database.query<{ since: number }>(WAITING_SINCE, [chainId, address]);
    return rows[0]?.since ?? null;
  }

  async withPayloadOf(
    { chainId, address }: SignerId,
    payloads: readonly SentTransaction[],
    most: number,
  ): Promise<RequestedTx[]> {
    const { rows } = await this.database.query<RequestRow>(WITH_PAYLOAD, [
      chainId,
      address,
      payloads.map(({ to }) => to),
      payloads.map(({ value }) => value),
      payloads.map(({ data }) => data),
      most,
    ]);
    return rows.map(toRequested);
  }

  async suspects(tx: Tx, signers: readonly SignerId[]): Promise<SignerId[]> {
    const { rows } = await PgTx.of(tx).query<{ position: number }>(SUSPECTS, signerColumns(signers));
    return rows.flatMap(({ position }) => signers[position] ?? []);
  }

  async reconciled(fence: Fence, signer: SignerId, epoch: number, leaving: readonly string[]): Promise<void> {
    const [tx, token] = [PgTx.of(fence.tx), fence.tokenFor(signer)];
    await tx.query(RECONCILED, [signer.chainId, signer.address, epoch, token]);
    await tx.query(DOUBT_UNSENT, [signer.chainId, signer.address, token, leaving]);
  }

  async permitsLost(fence: Fence, txIds: readonly string[]): Promise<void> {
    await PgTx.of(fence.tx).query(PERMITS_LOST, [txIds]);
  }

  async books(signers: readonly SignerId[]): Promise<Books[]> {
    const { rows } = await this.database.query<BooksRow>(BOOKS, signerColumns(signers));
    return signers.flatMap((signer, index) => {
      const row = rows[index];
      return row ? [toBooks(signer, row)] : [];
    });
  }

  async consumedFrom(
    { signer: { chainId, address }, nonce }: SlotRef,
    limit: number,
  ): Promise<{ nonce: Nonce; txId: string | null }[]> {
    const { rows } = await this.database.query<{ nonce: string; tx_id: string | null }>(CONSUMED_FROM, [
      chainId,
      address,
      nonce,
      limit,
    ]);
    return rows.map((row) => ({ nonce: BigInt(row.nonce), txId: row.tx_id }));
  }

  async noteOrigin(fence: Fence, signer: SignerId, origin: readonly string[]): Promise<void> {
    const { chainId, address } = signer;
    await PgTx.of(fence.tx).query(NOTE_ORIGIN, [chainId, address, fence.tokenFor(signer), origin]);
  }

  async markBehind(fence: Fence, signer: SignerId, behind: ChainBehind | null): Promise<void> {
    const { chainId, address } = signer;
    const value = behind && JSON.stringify(behind);
    await PgTx.of(fence.tx).query(MARK_BEHIND, [chainId, address, fence.tokenFor(signer), value]);
  }
}

function toBooks(signer: SignerId, { begun, nonce, block_number, origin, behind }: BooksRow): Books {
  return {
    signer,
    begun,
    usedBelow: nonce === null ? 0n : BigInt(nonce) + 1n,
    block: Number(block_number ?? 0),
    origin,
    behind,
  };
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
    inFlightFrom: row.in_flight_from === null ? null : BigInt(row.in_flight_from),
    known: row.acted || row.suspect,
    suspect: row.suspect,
    epoch: Number(row.epoch),
  };
}
