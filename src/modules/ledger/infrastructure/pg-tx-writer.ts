import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { parseAddress } from '../../../kernel/hex.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { PgTx, type SqlValue } from '../../../platform/database/pg-tx.js';
import { SignerPolicies } from '../../policies/index.js';
import { type Fence, signerColumns, type SlotHolder, type SlotRef } from '../../signers/index.js';
import type { ManagedTx, Timer } from '../domain/managed-tx.js';
import type { RequestedTx } from '../domain/managed-tx.repository.js';
import { type Postponement, TxWriter } from '../domain/tx-writer.js';
import { lockTxs, payloadColumns, toStoredReceipt } from './managed-tx.rows.js';

/** The state is concatenated so that only the primary key fits: a plan with managed_tx_waiting would read all waiting txs. */
export const LOCK_PENDING = {
  name: 'tx_lock_pending',
  text: `SELECT t.tx_id, t.version FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[]) AND t.state || '' = 'PENDING' ORDER BY t.tx_id FOR UPDATE SKIP LOCKED`,
};

/**
 * Before SAVE, where txs in flight get the nonces of others: the unique index looks at each row at once. The version stays: SAVE compares it.
 */
const VACATE = {
  name: 'tx_vacate',
  text: `
    UPDATE managed_tx t SET state = 'PENDING', nonce = NULL
     WHERE t.tx_id = ANY($1::uuid[]) AND t.state || '' IN ('ALLOCATED', 'IN_MEMPOOL')`,
};

/**
 * A timer is passed as milliseconds from now, null to clear it, or -1 to keep it. An outdated copy has another version, so its row is not
 * updated, and the caller notices it by the row count.
 */
const SAVE = {
  name: 'tx_save',
  text: `
    UPDATE managed_tx t
       SET state = s.state, sub_state = s.sub_state, nonce = s.nonce, gas_limit = s.gas_limit, tx_hash = s.tx_hash,
           receipt = s.receipt, block_number = s.block_number, block_hash = s.block_hash, failure_reason = s.failure_reason, closing = s.closing, replaced_by = s.replaced_by, withdrawn_replacement = s.withdrawn_replacement, tries = s.tries, requeues = s.requeues, last_error = s.last_error,
           next_resubmit_at = CASE WHEN s.resubmit_ms = -1 THEN t.next_resubmit_at ELSE clock_timestamp() + s.resubmit_ms * interval '1 ms' END,
           next_receipt_check_at = CASE WHEN s.receipt_ms = -1 THEN t.next_receipt_check_at ELSE clock_timestamp() + s.receipt_ms * interval '1 ms' END,
           last_submit_at = CASE WHEN s.submitted THEN clock_timestamp() ELSE t.last_submit_at END,
           confirmed_at = CASE WHEN s.state = 'CONFIRMED' THEN coalesce(t.confirmed_at, clock_timestamp()) ELSE NULL END,
           fencing_token = s.token, version = s.version + 1, updated_at = clock_timestamp()
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::jsonb[], $8::bigint[], $9::text[],
                  $10::text[], $11::float8[], $12::float8[], $13::boolean[], $14::bigint[], $15::int[], $16::int[], $17::text[], $18::jsonb[], $19::uuid[], $20::int[], $21::uuid[])
           AS s (tx_id, state, sub_state, nonce, gas_limit, tx_hash, receipt, block_number, block_hash,
                 failure_reason, resubmit_ms, receipt_ms, submitted, token, version, tries, last_error, closing, replaced_by, requeues, withdrawn_replacement)
     WHERE t.tx_id = s.tx_id AND t.version = s.version`,
};

/** Inserts fills, which Lockstep makes itself and which hold their slots from the start. */
const INSERT_FILLS = {
  name: 'tx_insert_fills',
  text: `
    INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state, kind, nonce, gas_limit, fencing_token, replaces, version)
    SELECT tx_id, chain_id, signer, request_id, request_hash, to_address, value, decode(substr(data, 3), 'hex'), options, priority, 'ALLOCATED', 'fill', nonce, gas_limit, token, replaces, 1
      FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::text[], $9::jsonb[], $10::int[], $11::bigint[], $12::bigint[], $13::bigint[], $14::uuid[])
           AS f (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, nonce, gas_limit, token, replaces)
     ORDER BY chain_id, signer, nonce`,
};

/** Only timers change, and only of txs that nobody changed since they were read: else they have timers of their own. */
const POSTPONE_RESUBMIT = {
  name: 'tx_postpone_resubmit',
  text: `
    UPDATE managed_tx t SET next_resubmit_at = clock_timestamp() + p.ms * interval '1 ms'
      FROM unnest($1::uuid[], $2::int[], $3::float8[]) AS p (tx_id, version, ms)
     WHERE t.tx_id = p.tx_id AND t.version = p.version AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')`,
};

const POSTPONE_RECEIPT = {
  name: 'tx_postpone_receipt',
  text: `
    UPDATE managed_tx t SET next_receipt_check_at = clock_timestamp() + p.ms * interval '1 ms'
      FROM unnest($1::uuid[], $2::int[], $3::float8[]) AS p (tx_id, version, ms)
     WHERE t.tx_id = p.tx_id AND t.version = p.version AND t.state = 'IN_MEMPOOL'`,
};

/** Only timers change, so copies that are read before can still be saved. */
const MAKE_FUNDED_DUE = {
  name: 'funds_make_due',
  text: `
    UPDATE managed_tx t SET next_resubmit_at = clock_timestamp()
      FROM (SELECT k.tx_id FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
              JOIN managed_tx k ON k.chain_id = w.chain_id AND k.signer = w.signer
             WHERE k.state = 'PENDING' AND k.sub_state = 'INSUFFICIENT_FUNDS'
             UNION ALL
            SELECT k.tx_id FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
              JOIN managed_tx k ON k.chain_id = w.chain_id AND k.signer = w.signer
             WHERE k.state IN ('ALLOCATED', 'IN_MEMPOOL') AND k.nonce >= 0 AND k.sub_state = 'INSUFFICIENT_FUNDS'
             ORDER BY tx_id) short
     WHERE t.tx_id = short.tx_id AND t.sub_state = 'INSUFFICIENT_FUNDS'`,
};

/**
 * Only timers change. Of a long queue the first ones, along managed_tx_held: each is judged, and what has no room waits with a timer again. All
 * others have timers of their own. What somebody is judging is passed over.
 */
export const MAKE_HELD_DUE = {
  name: 'tx_make_held_due',
  text: `
    UPDATE managed_tx t SET next_resubmit_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
     CROSS JOIN LATERAL (
       SELECT k.tx_id FROM managed_tx k
        WHERE k.chain_id = w.chain_id AND k.signer = w.signer AND k.state = 'PENDING' AND k.sub_state = 'POLICY_HELD' AND k.next_resubmit_at > clock_timestamp()
        ORDER BY -k.priority, k.tx_id LIMIT $3 FOR UPDATE SKIP LOCKED) held
     WHERE t.tx_id = held.tx_id`,
};

/**
 * Reads one page along managed_tx_live, from the end of the previous page. The signers are a filter, concatenated so that no index fits
 * them: all pages together then read the txs in flight of the chain once.
 */
const MARK_RECEIPTS_DUE = {
  name: 'tx_ask_receipts_now',
  text: `
    WITH page AS MATERIALIZED (
      SELECT t.tx_id, t.signer, t.nonce FROM managed_tx t
       WHERE t.chain_id = $1 AND t.state = 'IN_MEMPOOL' AND (t.signer, t.nonce) > ($3::text, $4::bigint) AND (t.signer || '') = ANY($2::text[])
       ORDER BY t.chain_id, t.signer, t.nonce LIMIT $5),
    asked AS (UPDATE managed_tx t SET next_receipt_check_at = clock_timestamp() FROM page p WHERE t.tx_id = p.tx_id AND t.state = 'IN_MEMPOOL')
    SELECT signer, nonce FROM page ORDER BY signer, nonce OFFSET $5 - 1`,
};

const HELD_AT_ONCE = 50;

/** A row takes about 0.1 ms, so a page stays far below every statement time-out. */
const RECEIPT_PAGE_TXS = 5_000;

@Injectable()
export class PgTxWriter extends TxWriter {
  constructor(private readonly policies: SignerPolicies) {
    super();
  }

  async lockPending(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    return new Set((await lockTxs(fence, LOCK_PENDING, txs)).keys());
  }

  async vacate(fence: Fence, holders: readonly SlotHolder[]): Promise<void> {
    if (holders.length === 0) return;
    for (const { signer } of holders) fence.tokenFor(signer);
    await PgTx.of(fence.tx).query(VACATE, [holders.map(({ txId }) => txId)]);
  }

  async save(fence: Fence, txs: readonly ManagedTx[]): Promise<void> {
    if (txs.length === 0) return;
    // Sorted by id, so that two transactions never lock the same rows in opposite orders.
    const ordered = [...txs].sort((a, b) => (a.id < b.id ? -1 : 1));
    const { rowCount } = await PgTx.of(fence.tx).query(SAVE, progressColumns(fence, ordered));
    if (rowCount !== ordered.length) {
      throw new Conflict('stale_copy', 'a transaction was changed since it was read', 'read it again', {
        expected: ordered.length,
        saved: rowCount,
      });
    }
  }

  async insertFills(fence: Fence, fills: readonly RequestedTx[]): Promise<void> {
    if (fills.length === 0) return;
    await PgTx.of(fence.tx).query(INSERT_FILLS, [
      ...payloadColumns(fills.map(({ tx, request }) => ({ txId: tx.id, request }))),
      fills.map(({ tx }) => tx.nonce),
      fills.map(({ tx }) => tx.progress.gasLimit),
      fills.map(({ tx }) => fence.tokenFor(tx.signer)),
      fills.map(({ tx }) => tx.progress.replaces),
    ]);
  }

  async postpone(fence: Fence, { timer, txs }: Postponement): Promise<void> {
    const statement = timer === 'resubmit' ? POSTPONE_RESUBMIT : POSTPONE_RECEIPT;
    for (const { tx } of txs) fence.tokenFor(tx.signer);
    await PgTx.of(fence.tx).query(statement, [
      txs.map(({ tx }) => tx.id),
      txs.map(({ tx }) => tx.progress.version),
      txs.map(({ inMs }) => inMs),
    ]);
  }

  async makeFundedDue(fence: Fence, signers: readonly SignerId[]): Promise<void> {
    await PgTx.of(fence.tx).query(MAKE_FUNDED_DUE, signerColumns(signers));
  }

  async makeHeldDue(fence: Fence, signers: readonly SignerId[]): Promise<void> {
    const limited = this.policies.present.withDailyLimit(signers);
    if (limited.length > 0) await PgTx.of(fence.tx).query(MAKE_HELD_DUE, [...signerColumns(limited), HELD_AT_ONCE]);
  }

  async markReceiptsDue(fence: Fence, signers: readonly SignerId[], after: SlotRef | null): Promise<SlotRef | null> {
    const [first] = signers;
    if (!first) return null;
    const { chainId } = first;
    const { rows } = await PgTx.of(fence.tx).query<{ signer: string; nonce: string }>(MARK_RECEIPTS_DUE, [
      chainId,
      signers.map(({ address }) => address),
      after?.signer.address ?? '',
      after?.nonce ?? -1,
      RECEIPT_PAGE_TXS,
    ]);
    const [last] = rows;
    return last ? { signer: { chainId, address: parseAddress(last.signer) }, nonce: BigInt(last.nonce) } : null;
  }
}

function progressColumns(fence: Fence, txs: readonly ManagedTx[]): SqlValue[] {
  const rows = txs.map((tx) => tx.progress);
  return [
    rows.map((row) => row.txId),
    rows.map((row) => row.state),
    rows.map((row) => row.subState),
    rows.map((row) => row.nonce),
    rows.map((row) => row.gasLimit),
    rows.map((row) => row.txHash),
    rows.map((row) => (row.receipt ? JSON.stringify(toStoredReceipt(row.receipt)) : null)),
    rows.map((row) => row.receipt?.blockNumber ?? null),
    rows.map((row) => row.receipt?.blockHash ?? null),
    rows.map((row) => row.failureReason),
    txs.map((tx) => timerColumn(tx.timers.resubmit)),
    txs.map((tx) => timerColumn(tx.timers.receiptCheck)),
    txs.map((tx) => tx.submitted),
    rows.map((row) => fence.tokenFor(row.signer)),
    rows.map((row) => row.version),
    rows.map((row) => row.tries),
    rows.map((row) => row.lastError),
    rows.map((row) => (row.closing ? JSON.stringify(row.closing) : null)),
    rows.map((row) => row.replacedBy),
    rows.map((row) => row.requeues),
    rows.map((row) => row.withdrawnReplacement),
  ];
}

function timerColumn(timer: Timer): number | null {
  if (timer === 'keep') return -1;
  return timer === 'clear' ? null : timer.inMs;
}
