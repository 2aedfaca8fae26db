import { Injectable } from '@nestjs/common';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { type ChainId, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { type Fence, isPaused, signerColumns, slotColumns, type SlotRef } from '../../signers/index.js';
import type { AttemptKind } from '../domain/attempt.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import type { RequestedTx } from '../domain/managed-tx.repository.js';
import {
  type InFlightAround,
  type OpenHolds,
  type PoolKind,
  TxsInFlight,
  type UnminedTx,
  type WaitingHold,
} from '../domain/txs-in-flight.js';
import {
  IS_OUT,
  isOver,
  PROGRESS_COLUMNS,
  type ProgressRow,
  readTxs,
  REQUEST_COLUMNS,
  type RequestRow,
  toManagedTx,
  toRequested,
} from './managed-tx.rows.js';

const ALLOCATED = {
  name: 'tx_allocated',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}
      FROM managed_tx t JOIN unnest($1::bigint[], $2::text[]) AS w (chain_id, signer) ON w.chain_id = t.chain_id AND w.signer = t.signer
     WHERE t.state = 'ALLOCATED' AND NOT ${isOver('t')} ORDER BY t.chain_id, t.signer, t.nonce`,
};

/**
 * Reads the lowest unmined nonces along managed_tx_live. A tx that a replacement competes with is left out: only the replacement gets
 * another price, and none while a rival of it is mined. A payload gets no higher price while its signer is paused, nor does what an outside sender sent; a no-op does. One of a
 * stopped account does, too: other accounts wait behind it, also those that have no nonce yet.
 */
export const LOWEST_UNMINED = {
  name: 'tx_lowest_unmined',
  text: `
    SELECT ${PROGRESS_COLUMNS}, a.kind AS attempt_kind, a.priced_at_block, a.error_class,
           t.closing IS NULL AND (t.kind = 'hold' OR t.kind = 'payload' AND ${isPaused('t.chain_id', 't.signer')}) AS held
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m
        WHERE m.chain_id = w.chain_id AND m.signer = w.signer AND m.nonce >= 0 AND m.state IN ('ALLOCATED', 'IN_MEMPOOL') AND m.replaced_by IS NULL
          AND m.sub_state IS DISTINCT FROM 'REPLACING'
        ORDER BY m.chain_id, m.signer, m.nonce LIMIT $3) t
      LEFT JOIN LATERAL (
       SELECT * FROM tx_attempt n
        WHERE n.signer = t.signer AND n.nonce = t.nonce AND n.chain_id = t.chain_id AND n.tx_id = t.tx_id
        ORDER BY n.created_at DESC, n.tx_hash DESC LIMIT 1) a ON true
     ORDER BY t.chain_id, t.signer, t.nonce`,
};

/**
 * The longest due txs of each signer, along managed_tx_resubmit_due. `clock_timestamp()` may change within a statement, so PostgreSQL searches no
 * index by it and would also read what is not due.
 */
export const DUE_FOR_RESUBMIT = {
  name: 'tx_due_for_resubmit',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM unnest($2::text[]) AS w (signer)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m
        WHERE m.chain_id = $1 AND m.signer = w.signer AND m.state IN ('ALLOCATED', 'IN_MEMPOOL') AND m.next_resubmit_at <= statement_timestamp() AND NOT ${isOver('m')}
        ORDER BY m.chain_id, m.signer, m.next_resubmit_at, m.nonce LIMIT $3) t`,
};

/** The longest due txs of each signer, along managed_tx_receipt_due. */
export const DUE_FOR_RECEIPT = {
  name: 'tx_due_for_receipt',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM unnest($2::text[]) AS w (signer)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m
        WHERE m.chain_id = $1 AND m.signer = w.signer AND m.state = 'IN_MEMPOOL' AND m.next_receipt_check_at <= statement_timestamp()
        ORDER BY m.chain_id, m.signer, m.next_receipt_check_at LIMIT $3) t`,
};

/** Along managed_tx_holds, which is nearly always empty. */
export const WAITING_HOLDS = {
  name: 'tx_waiting_holds',
  text: `
    SELECT ${PROGRESS_COLUMNS}, over.yes AS over, over.yes AND t.expires_at <= clock_timestamp() - interval '1 minute' AS overdue
      FROM unnest($2::text[]) AS w (signer)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m
        WHERE m.chain_id = $1 AND m.signer = w.signer AND m.kind = 'hold' AND m.state IN ('ALLOCATED', 'IN_MEMPOOL')
          AND (m.state = 'ALLOCATED' OR NOT EXISTS (
                SELECT FROM tx_attempt a WHERE a.chain_id = m.chain_id AND a.signer = m.signer AND a.nonce = m.nonce AND a.tx_id = m.tx_id))
        ORDER BY m.chain_id, m.signer, m.nonce LIMIT $3) t
     CROSS JOIN LATERAL (
       SELECT t.state = 'ALLOCATED' AND coalesce(t.expires_at <= clock_timestamp(), false)
          AND NOT EXISTS (SELECT FROM tx_command c WHERE c.tx_id = t.tx_id AND c.status = 'QUEUED' AND c.kind IN ('consume', 'extend')) AS yes) over`,
};

/** Along managed_tx_holds, and only where holds wait. */
const OPEN_HOLDS = {
  name: 'tx_open_holds',
  text: `
    WITH open AS (
      SELECT m.chain_id, m.signer, m.account_id, count(*)::int AS holds
        FROM unnest($2::bigint[], $3::text[]) AS w (chain_id, signer)
        JOIN managed_tx m ON m.chain_id = w.chain_id AND m.signer = w.signer AND m.kind = 'hold' AND m.state IN ('ALLOCATED', 'IN_MEMPOOL')
       GROUP BY m.chain_id, m.signer, m.account_id)
    SELECT t.tx_id AS "txId", t.account_id AS account,
           coalesce((SELECT sum(o.holds) FROM open o WHERE o.chain_id = t.chain_id AND o.signer = t.signer), 0)::int AS "ofSigner",
           coalesce((SELECT o.holds FROM open o WHERE o.chain_id = t.chain_id AND o.signer = t.signer AND o.account_id = t.account_id), 0) AS "ofAccount"
      FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[])`,
};

/** Runs only when a pool that refused txs of a signer may have room. */
const WAITING_FOR_POOL = {
  name: 'tx_waiting_for_pool',
  text: `
    SELECT t.* FROM unnest($1::bigint[], $2::text[], $3::int[]) AS w (chain_id, signer, room)
     CROSS JOIN LATERAL (
       SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
        WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.sub_state = 'POOL_LIMIT' AND NOT ${isOver('t')}
        ORDER BY t.nonce LIMIT w.room) t
     ORDER BY t.chain_id, t.signer, t.nonce`,
};

/** Runs only after a pool refused a tx for a limit. Two txs that compete for one slot count once. */
const IN_FLIGHT_AROUND = {
  name: 'tx_in_flight_around',
  text: `
    SELECT (SELECT count(DISTINCT t.nonce) FROM managed_tx t
             WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.nonce < w.nonce AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
               AND t.sub_state IS DISTINCT FROM 'REPLACING')::int AS below,
           EXISTS (SELECT FROM managed_tx t
             WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce > w.nonce AND t.state = 'IN_MEMPOOL' AND t.sub_state IS DISTINCT FROM 'POOL_LIMIT') AS passed
      FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS w (chain_id, signer, nonce, position) ORDER BY w.position`,
};

/**
 * Reads one row for each tx in flight, in the order of managed_tx_live; of a race that of the newest, which has the kind of the others. Runs only
 * while blobs or authorizations are around. An authorization that a signer gave for the tx of another one is in flight until that tx is mined.
 */
const KINDS_IN_FLIGHT = {
  name: 'tx_kinds_in_flight',
  text: `
    SELECT CASE WHEN EXISTS (SELECT FROM tx_authorization g JOIN managed_tx t ON t.tx_id = g.tx_id
                              WHERE g.chain_id = w.chain_id AND g.authority = w.signer AND g.nonce IS NOT NULL AND ${IS_OUT}) THEN 'alone'
           ELSE (SELECT CASE WHEN bool_or(live.options ? 'blobHashes') THEN 'blob'
                        WHEN bool_or(jsonb_path_exists(live.options, '$.authorizationList[*].signer')) THEN 'alone'
                        WHEN count(*) > 0 THEN 'plain' END
              FROM (SELECT t.options FROM managed_tx t
                     WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                       AND t.sub_state IS DISTINCT FROM 'REPLACING'
                     ORDER BY t.nonce) AS live) END AS kind
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

interface UnminedRow extends ProgressRow {
  /** Null, like the next two, when the tx has no attempt. */
  attempt_kind: AttemptKind | null;
  priced_at_block: string | null;
  error_class: NodeErrorClass | null;
  held: boolean;
}

@Injectable()
export class PgTxsInFlight extends TxsInFlight {
  constructor(private readonly database: Database) {
    super();
  }

  async allocated(signers: readonly SignerId[]): Promise<RequestedTx[]> {
    const { rows } = await this.database.query<RequestRow>(ALLOCATED, signerColumns(signers));
    return rows.map(toRequested);
  }

  async lowestUnmined(signers: readonly SignerId[], perSigner: number): Promise<UnminedTx[]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<UnminedRow>(LOWEST_UNMINED, [...signerColumns(signers), perSigner]);
    return rows.map((row) => ({ tx: toManagedTx(row), newest: newestOf(row), isHeld: row.held }));
  }

  dueForResubmit(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]> {
    return readTxs(this.database, DUE_FOR_RESUBMIT, [chainId, signers, perSigner]);
  }

  dueForReceiptCheck(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]> {
    return readTxs(this.database, DUE_FOR_RECEIPT, [chainId, signers, perSigner]);
  }

  waitingForPool(wanted: readonly { readonly signer: SignerId; readonly room: number }[]): Promise<ManagedTx[]> {
    return readTxs(this.database, WAITING_FOR_POOL, [
      ...signerColumns(wanted.map(({ signer }) => signer)),
      wanted.map(({ room }) => room),
    ]);
  }

  async waitingHolds(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<WaitingHold[]> {
    const { rows } = await this.database.query<ProgressRow & { over: boolean; overdue: boolean }>(WAITING_HOLDS, [
      chainId,
      signers,
      perSigner,
    ]);
    return rows.map((row) => ({ tx: toManagedTx(row), isOver: row.over, isOverdue: row.overdue }));
  }

  async openHolds(fence: Fence, waiting: readonly ManagedTx[]): Promise<OpenHolds[]> {
    const ids = waiting.map(({ id }) => id);
    return (await PgTx.of(fence.tx).query<OpenHolds>(OPEN_HOLDS, [ids, ...signerColumns(signersOf(waiting))])).rows;
  }

  async inFlightAround(slots: readonly SlotRef[]): Promise<InFlightAround[]> {
    const { rows } = await this.database.query<{ below: number; passed: boolean }>(
      IN_FLIGHT_AROUND,
      slotColumns(slots),
    );
    return rows.map(({ below, passed }) => ({ below, isPassed: passed }));
  }

  async kindsInFlight(signers: readonly SignerId[]): Promise<(PoolKind | null)[]> {
    const { rows } = await this.database.query<{ kind: PoolKind | null }>(KINDS_IN_FLIGHT, signerColumns(signers));
    return rows.map(({ kind }) => kind);
  }
}

function newestOf({
  attempt_kind: kind,
  priced_at_block: block,
  error_class: errorClass,
}: UnminedRow): UnminedTx['newest'] {
  return kind === null ? null : { kind, pricedAtBlock: block === null ? null : Number(block), errorClass };
}
