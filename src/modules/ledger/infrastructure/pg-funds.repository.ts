import { Injectable } from '@nestjs/common';
import { parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { type Fence, signerColumns } from '../../signers/index.js';
import { FundsRepository, type FundsStanding, type QueuedCost } from '../domain/funds.repository.js';
import { GAS_PER_BLOB } from '../domain/tx-cost.js';
import { fromStoredFees, type StoredOptions } from './managed-tx.rows.js';

/** Gas of a transaction before it executes anything (EIP-2028, EIP-2930): at most this, whatever its data. */
const INTRINSIC_GAS = `21000 + 16 * octet_length(t.data) + CASE WHEN t.to_address IS NULL THEN 32000 ELSE 0 END`;

/** The number of txs in flight is bounded. The other two are probes. */
const STANDING = {
  name: 'funds_standing',
  text: `
    SELECT f.count::int AS in_flight,
           (SELECT true FROM managed_tx t WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.state = 'PENDING' ORDER BY t.chain_id, t.signer LIMIT 1) IS NOT NULL AS pending,
           f.short OR (SELECT true FROM managed_tx t
                        WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.state = 'PENDING' AND t.sub_state = 'INSUFFICIENT_FUNDS'
                        ORDER BY -t.priority, t.tx_id LIMIT 1) IS NOT NULL AS waits,
           s.balance_low_at IS NOT NULL AS low, s.address IS NOT NULL AS known
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position)
      LEFT JOIN signer s ON s.chain_id = w.chain_id AND s.address = w.signer
     CROSS JOIN LATERAL (
       SELECT count(*), coalesce(bool_or(t.sub_state = 'INSUFFICIENT_FUNDS'), false) AS short FROM managed_tx t
        WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')) f
     ORDER BY w.position`,
};

/** Reads the index managed_tx_waiting, in its order. */
const QUEUED = {
  name: 'funds_queued',
  text: `
    SELECT w.position::int AS position, q.options, count(*)::int AS count, sum(q.value) AS value, sum(q.gas) AS gas, sum(q.blobs) AS blobs
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position)
     CROSS JOIN LATERAL (
       SELECT jsonb_strip_nulls(jsonb_build_object('speed', t.options -> 'speed', 'gasPrice', t.options -> 'gasPrice',
                'maxFeePerGas', t.options -> 'maxFeePerGas', 'maxPriorityFeePerGas', t.options -> 'maxPriorityFeePerGas',
                'maxFeePerBlobGas', t.options -> 'maxFeePerBlobGas')) AS options, t.value,
              coalesce(jsonb_array_length(t.options -> 'blobHashes'), 0) AS blobs,
              coalesce((t.options ->> 'gasLimit')::numeric, t.gas_limit, ${INTRINSIC_GAS}) AS gas
         FROM managed_tx t
        WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.state = 'PENDING'
        ORDER BY coalesce(t.next_resubmit_at, '-infinity'::timestamptz), -t.priority, t.tx_id LIMIT $3) q
     GROUP BY w.position, q.options ORDER BY w.position`,
};

/**
 * The sum of what {@link costOf} says. The most expensive attempt of each slot counts, with its own gas, because any of them can be mined; a no-op that competes
 * with blobs has one. Only one tx of a slot can be: of two that compete, the
 * one that costs more counts, and none after one of them was mined.
 */
export const COMMITTED_WEI = {
  name: 'tx_committed_wei',
  text: `
    SELECT coalesce((
             SELECT sum(slot.wei) FROM (
               SELECT max(t.value + coalesce((
                        SELECT max(a.gas_limit * a.max_fee_per_gas + CASE WHEN a.max_fee_per_blob_gas IS NULL THEN 0
                                   ELSE ${GAS_PER_BLOB} * a.max_fee_per_blob_gas * coalesce(jsonb_array_length(t.options -> 'blobHashes'), 1) END)
                          FROM tx_attempt a
                         WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.status <> 'UNSENT'), 0)) AS wei
                 FROM managed_tx t
                WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                  AND (t.replaces IS NULL AND t.replaced_by IS NULL OR NOT EXISTS (
                        SELECT FROM managed_tx m WHERE m.chain_id = t.chain_id AND m.signer = t.signer AND m.nonce = t.nonce AND m.state = 'MINED'))
                GROUP BY t.nonce) slot), 0) AS wei
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

const MARK_LOW = {
  name: 'funds_mark_low',
  text: `
    UPDATE signer s SET balance_low_at = CASE WHEN $3 THEN clock_timestamp() END
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
     WHERE s.chain_id = w.chain_id AND s.address = w.signer AND (s.balance_low_at IS NOT NULL) <> $3::boolean
    RETURNING s.chain_id, s.address`,
};

interface StandingRow {
  in_flight: number;
  pending: boolean;
  waits: boolean;
  low: boolean;
  known: boolean;
}

interface QueuedRow {
  position: number;
  options: StoredOptions;
  count: number;
  value: string;
  gas: string;
  blobs: string;
}

@Injectable()
export class PgFundsRepository extends FundsRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async standing(signers: readonly SignerId[]): Promise<FundsStanding[]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<StandingRow>(STANDING, signerColumns(signers));
    return rows.map(({ in_flight, pending, waits, low, known }) => ({
      isKnown: known,
      inFlight: in_flight,
      hasPending: pending,
      waitsForFunds: waits,
      isLow: low,
    }));
  }

  async queued(signers: readonly SignerId[], most: number): Promise<QueuedCost[][]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<QueuedRow>(QUEUED, [...signerColumns(signers), most]);
    const costs = signers.map((): QueuedCost[] => []);
    for (const { position, options, count, value, gas, blobs } of rows)
      costs[position - 1]?.push({
        fees: fromStoredFees(options),
        speed: options.speed,
        count,
        value: BigInt(value),
        gas: BigInt(gas),
        blobs: BigInt(blobs),
      });
    return costs;
  }

  async committedWei(signers: readonly SignerId[]): Promise<bigint[]> {
    const { rows } = await this.database.query<{ wei: string }>(COMMITTED_WEI, signerColumns(signers));
    return rows.map(({ wei }) => BigInt(wei));
  }

  async markLow(fence: Fence, signers: readonly SignerId[], isLow: boolean): Promise<SignerId[]> {
    const { rows } = await PgTx.of(fence.tx).query<{ chain_id: string; address: string }>(MARK_LOW, [
      ...signerColumns(signers),
      isLow,
    ]);
    return rows.map(({ chain_id, address }) => parseSigner(chain_id, address));
  }
}
