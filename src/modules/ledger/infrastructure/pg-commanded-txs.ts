import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue } from '../../../platform/database/pg-tx.js';
import { EventLog } from '../../events/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import { type Fence, isPaused } from '../../signers/index.js';
import { BlobRepository } from '../domain/blob.repository.js';
import { CommandedTxs } from '../domain/commanded-txs.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import type { TxRequest } from '../domain/tx-request.js';
import { type ProgressRow, toManagedTx, toStoredOptions, PROGRESS_COLUMNS, wantsLonger } from './managed-tx.rows.js';

/** Waits for a lane that holds the row, and then reads what the lane wrote. A lane skips a row that is locked here. */
const LOCK = {
  name: 'command_lock',
  text: `SELECT ${PROGRESS_COLUMNS} FROM managed_tx t WHERE t.tx_id = $1 FOR UPDATE`,
};

const HAS_BLOBS = {
  name: 'command_has_blobs',
  text: `SELECT FROM managed_tx t WHERE t.tx_id = $1 AND t.options ? 'blobHashes'`,
};

/** The version makes a lane that read the row before refuse its own copy. */
const SAVE_PENDING = {
  name: 'command_save_pending',
  text: `
    UPDATE managed_tx SET state = $2, sub_state = $3, failure_reason = $4, tries = 0, last_error = NULL,
           next_resubmit_at = CASE WHEN $2 = 'PENDING' THEN CASE WHEN next_resubmit_at = 'infinity' THEN next_resubmit_at ELSE clock_timestamp() END END,
           version = version + 1, updated_at = clock_timestamp()
     WHERE tx_id = $1 AND state = 'PENDING'`,
};

const EDIT_REQUEST = {
  name: 'command_edit_request',
  text: `
    UPDATE managed_tx SET to_address = $2, value = $3, data = decode(substr($4, 3), 'hex'), options = $5, confirmations = $6, expires_at = $7, close_due_at = NULL, metadata = $8
     WHERE tx_id = $1 AND state = 'PENDING'`,
};

/** Due never: its command gives it a nonce, or ends it. */
const INSERT_REPLACEMENT = {
  name: 'command_insert_replacement',
  text: `
    WITH replacement AS (
      INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, state, sub_state, replaces, next_resubmit_at, account_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7, decode(substr($8, 3), 'hex'), $9, $10, $11, $12, $13, 'PENDING', 'REPLACING', $14, 'infinity', $17)
          ON CONFLICT (chain_id, signer, account_id, request_id) DO NOTHING
      RETURNING tx_id, chain_id)
    INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, actor, detail)
    SELECT chain_id, tx_id, 'queued', 'PENDING', $15, $16, jsonb_build_object('replaces', $14::text) FROM replacement`,
};

const HAS_EXPIRED = {
  name: 'command_has_expired',
  text: `SELECT FROM managed_tx t WHERE t.tx_id = $1 AND t.expires_at <= clock_timestamp()`,
};

/** Runs under the fence, and {@link SignerPauses.writesEnded} waits for that. */
const STANDING = {
  name: 'command_standing',
  text: `SELECT ${isPaused('t.chain_id', 't.signer', 't.account_id')} AS "isPaused", ${POLICY_MARK} AS "policyMark" FROM managed_tx t WHERE t.tx_id = $1`,
};

/** Along managed_tx_expiring, which has only txs with an end: of each signer the longest due. A hold that has its nonce ends otherwise, and none while its sender wants it longer. */
export const EXPIRED = {
  name: 'command_expired',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM unnest($2::text[]) AS w (signer)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m
        WHERE m.chain_id = $1 AND m.signer = w.signer AND coalesce(m.close_due_at, m.expires_at) <= statement_timestamp()
          AND m.state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') AND m.closing IS NULL AND m.replaced_by IS NULL AND m.expires_at IS NOT NULL
          AND m.sub_state IS DISTINCT FROM 'REPLACING' AND (m.kind <> 'hold' OR m.state = 'PENDING' AND NOT ${wantsLonger('m')})
        ORDER BY m.chain_id, m.signer, coalesce(m.close_due_at, m.expires_at) LIMIT $3) t`,
};

/** Since it was reserved. An outside sender that extends again and again would block its signer for ever. */
const LONGEST_HOLD = `interval '1 day'`;

const HAS_LASTED_LONGEST = {
  name: 'command_has_lasted_longest',
  text: `SELECT FROM managed_tx t WHERE t.tx_id = $1 AND t.created_at + ${LONGEST_HOLD} <= clock_timestamp()`,
};

/** The version makes a look that found it over before refuse its own copy. */
const EXTEND = {
  name: 'command_extend',
  text: `
    UPDATE managed_tx t SET expires_at = greatest(t.expires_at, least(clock_timestamp() + $2::int * interval '1 s', t.created_at + ${LONGEST_HOLD})), close_due_at = NULL,
           fencing_token = $3, version = t.version + 1, updated_at = clock_timestamp()
     WHERE t.tx_id = $1 AND t.kind = 'hold' AND t.state IN ('PENDING', 'ALLOCATED') AND t.expires_at IS NOT NULL`,
};

const OUTDATE_COPIES = {
  name: 'command_outdate_copies',
  text: `UPDATE managed_tx SET version = version + 1 WHERE tx_id = $1`,
};

/** Only a time of the list above changes, so a copy that was read before can still be saved. */
const POSTPONE_CLOSING = {
  name: 'command_postpone_closing',
  text: `
    UPDATE managed_tx t SET close_due_at = clock_timestamp() + p.ms * interval '1 ms'
      FROM unnest($1::uuid[], $2::float8[]) AS p (tx_id, ms)
     WHERE t.tx_id = p.tx_id AND t.state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') AND t.closing IS NULL`,
};

@Injectable()
export class PgCommandedTxs extends CommandedTxs {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
    private readonly blobs: BlobRepository,
    private readonly events: EventLog,
  ) {
    super();
  }

  async lock(tx: Tx, txId: string): Promise<ManagedTx | null> {
    const { rows } = await PgTx.of(tx).query<ProgressRow>(LOCK, [txId]);
    return rows[0] ? toManagedTx(rows[0]) : null;
  }

  async hasBlobs(tx: Tx, txId: string): Promise<boolean> {
    const { rowCount } = await PgTx.of(tx).query(HAS_BLOBS, [txId]);
    return rowCount === 1;
  }

  async savePending(tx: Tx, managed: ManagedTx, request: TxRequest | null, actor: string): Promise<void> {
    const { id, state, progress } = managed;
    if (request !== null) {
      await PgTx.of(tx).query(EDIT_REQUEST, [
        id,
        request.payload.to,
        request.payload.value,
        request.payload.data,
        JSON.stringify(toStoredOptions(request)),
        ...agreedOnce(request),
      ]);
      await this.blobs.replace(tx, id, request.sidecar);
    }
    await PgTx.of(tx).query(SAVE_PENDING, [id, state, progress.subState, progress.failureReason]);
    await this.events.append(tx, { nodeId: this.node.id, tokenFor: () => null, actor }, managed.pendingEvents());
  }

  async insertReplacement(tx: Tx, txId: string, request: TxRequest, replaces: string): Promise<boolean> {
    const { signer, requestId, requestHash, payload, priority } = request;
    const { rowCount } = await PgTx.of(tx).query(INSERT_REPLACEMENT, [
      txId,
      signer.chainId,
      signer.address,
      requestId,
      requestHash,
      payload.to,
      payload.value,
      payload.data,
      JSON.stringify(toStoredOptions(request)),
      priority,
      ...agreedOnce(request),
      replaces,
      this.node.id,
      request.sender.name,
      request.sender.account,
    ]);
    if (rowCount === 1 && request.sidecar) await this.blobs.replace(tx, txId, request.sidecar);
    return rowCount === 1;
  }

  async hasExpired(txId: string): Promise<boolean> {
    const { rowCount } = await this.database.query(HAS_EXPIRED, [txId]);
    return rowCount === 1;
  }

  async standing(fence: Fence, txId: string): ReturnType<CommandedTxs['standing']> {
    const { rows } = await PgTx.of(fence.tx).query<{ isPaused: boolean; policyMark: string }>(STANDING, [txId]);
    const [row] = rows;
    if (!row) throw new InvariantViolation('a replacement is not in the database', { txId });
    return row;
  }

  async expired(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]> {
    const { rows } = await this.database.query<ProgressRow>(EXPIRED, [chainId, signers, perSigner]);
    return rows.map(toManagedTx);
  }

  async extend(fence: Fence, { id, signer }: ManagedTx, ttl: number): Promise<void> {
    await PgTx.of(fence.tx).query(EXTEND, [id, ttl, fence.tokenFor(signer)]);
  }

  async hasLastedLongest(tx: Tx, txId: string): Promise<boolean> {
    const { rowCount } = await PgTx.of(tx).query(HAS_LASTED_LONGEST, [txId]);
    return rowCount === 1;
  }

  async outdateCopies(tx: Tx, txId: string): Promise<void> {
    await PgTx.of(tx).query(OUTDATE_COPIES, [txId]);
  }

  async postponeClosing(later: readonly { readonly id: string; readonly inMs: number }[]): Promise<void> {
    if (later.length > 0)
      await this.database.query(POSTPONE_CLOSING, [later.map(({ id }) => id), later.map(({ inMs }) => inMs)]);
  }
}

function agreedOnce({ confirmations, expiresAt, metadata }: TxRequest): SqlValue[] {
  return [confirmations, expiresAt, metadata === null ? null : JSON.stringify(metadata)];
}
