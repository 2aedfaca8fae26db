import { type Fence, slotColumns, slotKey, type SlotRef } from '../../signers/index.js';
import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { type Hash, parseHash, parseHex } from '../../../kernel/hex.js';
import { type ChainId, parseSigner } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { Attempt, AttemptKind, AttemptOutcome, AttemptStatus, TxType } from '../domain/attempt.js';
import { AttemptRepository, type ConsumedSlot } from '../domain/attempt.repository.js';
import { CONSUMED_FROM_BLOCK } from './pg-mined-txs.js';

/**
 * The join with the slot is the guard: an attempt is stored only for a slot that its tx holds, so no payload can be signed into the slot of
 * another tx. The same draft has the same hash when it is signed again; its row then starts as SIGNED again.
 *
 * IS NOT DISTINCT FROM, not `=`: with `=` the planner reads the index of the holders for every attempt, which takes ten times as long.
 */
const INSERT = {
  name: 'attempt_insert',
  text: `
    INSERT INTO tx_attempt AS t (chain_id, tx_hash, signer, nonce, tx_id, kind, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, max_fee_per_blob_gas, tx_type, priced_at_block, status, fencing_token)
    SELECT a.chain_id, a.tx_hash, a.signer, a.nonce, a.tx_id, a.kind, decode(substr(a.raw, 3), 'hex'), a.gas_limit, a.max_fee, a.max_tip, a.max_blob_fee, a.tx_type, a.block, 'SIGNED', a.token
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::numeric[], $10::numeric[], $11::bigint[], $12::numeric[], $13::smallint[], $14::bigint[])
           AS a (chain_id, tx_hash, signer, nonce, tx_id, kind, raw, gas_limit, max_fee, max_tip, token, max_blob_fee, tx_type, block)
      JOIN signer_nonce_allocation s
        ON s.chain_id = a.chain_id AND s.signer = a.signer AND s.nonce = a.nonce AND s.status = 'HELD' AND s.tx_id IS NOT DISTINCT FROM a.tx_id
     ORDER BY a.chain_id, a.tx_hash
        ON CONFLICT (chain_id, tx_hash) DO UPDATE
       SET status = 'SIGNED', tx_id = excluded.tx_id, kind = excluded.kind, fencing_token = excluded.fencing_token`,
};

const ABOUT_TO_SEND = {
  name: 'attempt_about_to_send',
  text: `
    UPDATE tx_attempt t SET status = 'SIGNED', fencing_token = a.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS a (chain_id, tx_hash, token)
     WHERE t.chain_id = a.chain_id AND t.tx_hash = a.tx_hash AND t.status IN ('REJECTED', 'UNSENT')`,
};

/** A mined attempt stays MINED after any later answer of a node. */
const RECORD_OUTCOMES = {
  name: 'attempt_record_outcomes',
  text: `
    UPDATE tx_attempt t SET status = CASE WHEN t.status IN ('MINED', 'LOST') THEN t.status ELSE o.status END,
           error_class = o.error_class, last_error = o.error, last_sent_at = clock_timestamp(), fencing_token = o.token
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS o (chain_id, tx_hash, status, error_class, error, token)
     WHERE t.chain_id = o.chain_id AND t.tx_hash = o.tx_hash`,
};

const DECIDE = {
  name: 'attempt_decide',
  text: `
    UPDATE tx_attempt t SET status = CASE WHEN t.tx_hash = w.tx_hash THEN 'MINED' ELSE 'LOST' END, fencing_token = w.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) AS w (chain_id, signer, nonce, tx_hash, token)
     WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce = w.nonce
       AND t.status <> CASE WHEN t.tx_hash = w.tx_hash THEN 'MINED' ELSE 'LOST' END`,
};

const REOPEN = {
  name: 'attempt_reopen',
  text: `
    UPDATE tx_attempt t SET status = 'UNKNOWN', fencing_token = w.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS w (chain_id, signer, nonce, token)
     WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce = w.nonce AND t.status IN ('MINED', 'LOST')`,
};

const COLUMNS = `t.chain_id, t.tx_hash, t.signer, t.nonce, t.tx_id, t.kind, t.raw, t.gas_limit, t.max_fee_per_gas, t.max_priority_fee_per_gas, t.max_fee_per_blob_gas, t.tx_type, t.priced_at_block, t.status, t.error_class`;

const OF_SLOTS = {
  name: 'attempt_of_slots',
  text: `
    SELECT ${COLUMNS} FROM tx_attempt t
      JOIN unnest($1::bigint[], $2::text[], $3::bigint[]) AS w (chain_id, signer, nonce)
        ON t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce = w.nonce
     ORDER BY t.created_at, t.tx_hash`,
};

const BY_HASHES = {
  name: 'attempt_by_hashes',
  text: `SELECT ${COLUMNS} FROM tx_attempt t WHERE t.chain_id = $1 AND t.tx_hash = ANY($2::text[])`,
};

const CONSUMED_COLUMNS = `s.chain_id, s.signer, s.nonce, s.updated_at::text AS updated_at`;

const CONSUMED_WITHOUT_TX = {
  name: 'attempt_consumed_without_tx',
  text: `
    SELECT ${CONSUMED_COLUMNS} ${CONSUMED_FROM_BLOCK}
     WHERE g.chain_id = $1 AND s.tx_id IS NULL`,
};

const STILL_CONSUMED = {
  name: 'attempt_still_consumed',
  text: `
    SELECT ${CONSUMED_COLUMNS}
      FROM signer_nonce_allocation s
      JOIN unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[]) AS w (chain_id, signer, nonce, updated_at)
        ON s.chain_id = w.chain_id AND s.signer = w.signer AND s.nonce = w.nonce AND s.updated_at = w.updated_at
     WHERE s.status = 'CONSUMED' AND s.tx_id IS NULL`,
};

interface SlotRow {
  chain_id: string;
  signer: string;
  nonce: string;
}

interface ConsumedRow extends SlotRow {
  updated_at: string;
}

interface AttemptRow extends SlotRow {
  tx_hash: string;
  tx_id: string;
  kind: AttemptKind;
  raw: Buffer;
  gas_limit: string;
  max_fee_per_gas: string;
  max_priority_fee_per_gas: string;
  max_fee_per_blob_gas: string | null;
  tx_type: TxType;
  priced_at_block: string | null;
  status: AttemptStatus;
  error_class: NodeErrorClass | null;
}

@Injectable()
export class PgAttemptRepository extends AttemptRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async insert(fence: Fence, attempts: readonly Attempt[]): Promise<void> {
    if (attempts.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(INSERT, [
      attempts.map(({ signer }) => signer.chainId),
      attempts.map(({ txHash }) => txHash),
      attempts.map(({ signer }) => signer.address),
      attempts.map(({ nonce }) => nonce),
      attempts.map(({ txId }) => txId),
      attempts.map(({ kind }) => kind),
      attempts.map(({ raw }) => raw),
      attempts.map(({ gasLimit }) => gasLimit),
      attempts.map(({ fees }) => fees.maxFeePerGas),
      attempts.map(({ fees }) => fees.maxPriorityFeePerGas),
      attempts.map(({ signer }) => fence.tokenFor(signer)),
      attempts.map(({ fees }) => fees.maxFeePerBlobGas ?? null),
      attempts.map(({ type }) => type),
      attempts.map(({ pricedAtBlock }) => pricedAtBlock),
    ]);
    if (rowCount !== attempts.length)
      throw new InvariantViolation('an attempt was signed for a slot that its transaction does not hold', {
        attempts: attempts.length,
        stored: rowCount,
      });
  }

  async aboutToSend(fence: Fence, attempts: readonly Attempt[]): Promise<void> {
    if (attempts.length === 0) return;
    await PgTx.of(fence.tx).query(ABOUT_TO_SEND, [
      attempts.map(({ signer }) => signer.chainId),
      attempts.map(({ txHash }) => txHash),
      attempts.map(({ signer }) => fence.tokenFor(signer)),
    ]);
  }

  async recordOutcomes(fence: Fence, outcomes: readonly AttemptOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await PgTx.of(fence.tx).query(RECORD_OUTCOMES, [
      outcomes.map(({ attempt }) => attempt.signer.chainId),
      outcomes.map(({ attempt }) => attempt.txHash),
      outcomes.map(({ status }) => status),
      outcomes.map(({ errorClass }) => errorClass),
      outcomes.map(({ error }) => error),
      outcomes.map(({ attempt }) => fence.tokenFor(attempt.signer)),
    ]);
  }

  async decide(fence: Fence, winners: readonly (SlotRef & { readonly txHash: Hash | null })[]): Promise<void> {
    if (winners.length === 0) return;
    const [chains, signers, nonces] = slotColumns(winners);
    await PgTx.of(fence.tx).query(DECIDE, [
      chains,
      signers,
      nonces,
      winners.map(({ txHash }) => txHash),
      winners.map(({ signer }) => fence.tokenFor(signer)),
    ]);
  }

  async reopen(fence: Fence, slots: readonly SlotRef[]): Promise<void> {
    if (slots.length === 0) return;
    await PgTx.of(fence.tx).query(REOPEN, [...slotColumns(slots), slots.map(({ signer }) => fence.tokenFor(signer))]);
  }

  async ofSlots(slots: readonly SlotRef[]): Promise<Attempt[]> {
    if (slots.length === 0) return [];
    // Txs that compete for a slot name it more than once.
    const distinct = [...new Map(slots.map((slot) => [slotKey(slot), slot])).values()];
    const { rows } = await this.database.query<AttemptRow>(OF_SLOTS, slotColumns(distinct));
    return rows.map(toAttempt);
  }

  async byHashes(chainId: ChainId, hashes: readonly Hash[]): Promise<Attempt[]> {
    if (hashes.length === 0) return [];
    const { rows } = await this.database.query<AttemptRow>(BY_HASHES, [chainId, hashes]);
    return rows.map(toAttempt);
  }

  async consumedWithoutTx(chainId: ChainId, lowest: number): Promise<ConsumedSlot[]> {
    const { rows } = await this.database.query<ConsumedRow>(CONSUMED_WITHOUT_TX, [chainId, lowest]);
    return rows.map(toConsumed);
  }

  async stillConsumed(slots: readonly ConsumedSlot[]): Promise<ConsumedSlot[]> {
    if (slots.length === 0) return [];
    const { rows } = await this.database.query<ConsumedRow>(STILL_CONSUMED, [
      ...slotColumns(slots),
      slots.map(({ updatedAt }) => updatedAt),
    ]);
    return rows.map(toConsumed);
  }
}

function toSlot(row: SlotRow): SlotRef {
  return { signer: parseSigner(row.chain_id, row.signer), nonce: BigInt(row.nonce) };
}

function toConsumed(row: ConsumedRow): ConsumedSlot {
  return { ...toSlot(row), updatedAt: row.updated_at };
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    ...toSlot(row),
    txHash: parseHash(row.tx_hash),
    raw: parseHex(`0x${row.raw.toString('hex')}`),
    kind: row.kind,
    txId: row.tx_id,
    gasLimit: BigInt(row.gas_limit),
    fees: {
      maxFeePerGas: BigInt(row.max_fee_per_gas),
      maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
      ...(row.max_fee_per_blob_gas === null ? {} : { maxFeePerBlobGas: BigInt(row.max_fee_per_blob_gas) }),
    },
    type: row.tx_type,
    pricedAtBlock: row.priced_at_block === null ? null : Number(row.priced_at_block),
    status: row.status,
    errorClass: row.error_class,
  };
}
