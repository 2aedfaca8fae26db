import { Injectable } from '@nestjs/common';
import { parseSigner, type SignerId, signerKey } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { type Fence, signerColumns, slotColumns, slotKey, type SlotRef } from '../../signers/index.js';
import type { Spending } from '../domain/policy.js';
import { type DailySigner, type Reserve, SpendLedger, type Spent } from '../domain/spend-ledger.js';

/**
 * A reserve ends with its slot. What was mined counts until 24 hours after the commit that found it final, which is later than its block: so all that
 * was mined within any 24 hours counted when the last of it was reserved. No-ops and foreign transactions spend nothing of a payload. A receipt has no
 * fees of blobs, so there the reserve is kept. Sums of minutes, or the rows of a day would have no bound.
 */
export const SETTLE_SPENDING = {
  name: 'policy_settle_spending',
  text: `
    WITH w AS (SELECT * FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)),
    old AS (
      DELETE FROM signer_spent p USING w WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.counts_until <= statement_timestamp()),
    ended AS (
      DELETE FROM signer_reserve r USING w
       WHERE r.chain_id = w.chain_id AND r.signer = w.signer
         AND NOT EXISTS (
           SELECT FROM signer_nonce_allocation s
            WHERE s.chain_id = r.chain_id AND s.signer = r.signer AND s.nonce = r.nonce AND s.status = 'HELD')
      RETURNING r.chain_id, r.signer, r.nonce, r.fees),
    mined AS (
      SELECT e.chain_id, e.signer, date_trunc('minute', s.updated_at) + interval '24 hours 1 minute' AS counts_until,
             CASE WHEN t.state = 'CONFIRMED' THEN t.value ELSE 0 END AS value,
             CASE WHEN t.options ? 'blobHashes' THEN e.fees
                  ELSE coalesce((t.receipt ->> 'gasUsed')::numeric * (t.receipt ->> 'effectiveGasPrice')::numeric, e.fees) END AS fees
        FROM ended e
        JOIN signer_nonce_allocation s ON s.chain_id = e.chain_id AND s.signer = e.signer AND s.nonce = e.nonce AND s.status = 'CONSUMED'
        JOIN managed_tx t ON t.tx_id = s.tx_id
       WHERE t.kind = 'payload' AND t.receipt IS NOT NULL AND NOT coalesce((t.closing ->> 'won')::boolean, false) AND t.state IN ('CONFIRMED', 'FAILED'))
    INSERT INTO signer_spent AS p (chain_id, signer, counts_until, value, fees)
    SELECT chain_id, signer, counts_until, sum(value), sum(fees) FROM mined
     WHERE counts_until > statement_timestamp() GROUP BY chain_id, signer, counts_until ORDER BY chain_id, signer, counts_until
        ON CONFLICT (chain_id, signer, counts_until) DO UPDATE SET value = p.value + excluded.value, fees = p.fees + excluded.fees`,
};

/**
 * Of all that competes for a slot the dearest that was signed; at the highest price for its gas what has no attempt. A reserve that is there may be from
 * before a time without a policy, in which more was signed. A higher price than that needs room ({@link ReservedFees} of the room sending).
 */
export const RESERVE_IN_FLIGHT = {
  name: 'policy_reserve_in_flight',
  text: `
    INSERT INTO signer_reserve AS r (chain_id, signer, nonce, value, fees)
    SELECT t.chain_id, t.signer, t.nonce, max(t.value),
           max(coalesce(
             signed.fees,
             coalesce(t.gas_limit, 0) * w.gas_price + coalesce(jsonb_array_length(t.options -> 'blobHashes'), 0) * 131072 * w.blob_price))
      FROM unnest($1::bigint[], $2::text[], $3::numeric[], $4::numeric[]) AS w (chain_id, signer, gas_price, blob_price)
      JOIN managed_tx t ON t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')
     CROSS JOIN LATERAL (
       SELECT max(a.gas_limit * a.max_fee_per_gas + coalesce(jsonb_array_length(t.options -> 'blobHashes') * 131072 * a.max_fee_per_blob_gas, 0)) AS fees
         FROM tx_attempt a WHERE a.tx_id = t.tx_id AND a.kind = 'payload') signed
     WHERE t.kind = 'payload'
       AND NOT EXISTS (
         SELECT FROM signer_reserve r
          WHERE r.chain_id = t.chain_id AND r.signer = t.signer AND r.nonce = t.nonce AND r.value >= t.value AND r.fees >= coalesce(signed.fees, 0))
     GROUP BY t.chain_id, t.signer, t.nonce ORDER BY t.chain_id, t.signer, t.nonce
        ON CONFLICT (chain_id, signer, nonce) DO UPDATE SET value = greatest(r.value, excluded.value), fees = greatest(r.fees, excluded.fees)`,
};

export const SPENT = {
  name: 'policy_spent',
  text: `
    SELECT w.chain_id, w.signer, coalesce(r.value, 0) + coalesce(p.value, 0) AS value, coalesce(r.fees, 0) + coalesce(p.fees, 0) AS fees,
           extract(epoch FROM p.ends_at - statement_timestamp())::float8 * 1000 AS next_in_ms
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
      LEFT JOIN LATERAL (
        SELECT sum(r.value) AS value, sum(r.fees) AS fees FROM signer_reserve r WHERE r.chain_id = w.chain_id AND r.signer = w.signer) r ON true
      LEFT JOIN LATERAL (
        SELECT sum(p.value) AS value, sum(p.fees) AS fees, min(p.counts_until) AS ends_at FROM signer_spent p
         WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.counts_until > statement_timestamp()) p ON true`,
};

/** Without a write: what ended since the last sum is left out, and what was mined of it, too. */
export const SEEN = {
  name: 'policy_seen',
  text: `
    SELECT w.chain_id, w.signer, coalesce(r.value, 0) + coalesce(p.value, 0) AS value, coalesce(r.fees, 0) + coalesce(p.fees, 0) AS fees
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
      LEFT JOIN LATERAL (
        SELECT sum(r.value) AS value, sum(r.fees) AS fees FROM signer_reserve r
          JOIN signer_nonce_allocation s ON s.chain_id = r.chain_id AND s.signer = r.signer AND s.nonce = r.nonce AND s.status = 'HELD'
         WHERE r.chain_id = w.chain_id AND r.signer = w.signer) r ON true
      LEFT JOIN LATERAL (
        SELECT sum(p.value) AS value, sum(p.fees) AS fees FROM signer_spent p
         WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.counts_until > statement_timestamp()) p ON true`,
};

export const RESERVED = {
  name: 'policy_reserved',
  text: `
    SELECT r.chain_id, r.signer, r.nonce, r.value, r.fees FROM signer_reserve r
      JOIN unnest($1::bigint[], $2::text[], $3::bigint[]) AS w (chain_id, signer, nonce)
        ON r.chain_id = w.chain_id AND r.signer = w.signer AND r.nonce = w.nonce`,
};

export const RESERVE = {
  name: 'policy_reserve',
  text: `
    INSERT INTO signer_reserve AS r (chain_id, signer, nonce, value, fees)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::numeric[], $5::numeric[]) AS n (chain_id, signer, nonce, value, fees)
     ORDER BY 1, 2, 3
        ON CONFLICT (chain_id, signer, nonce) DO UPDATE SET value = greatest(r.value, excluded.value), fees = greatest(r.fees, excluded.fees)`,
};

interface SpendingRow {
  chain_id: string;
  signer: string;
  value: string;
  fees: string;
}

@Injectable()
export class PgSpendLedger extends SpendLedger {
  constructor(private readonly database: Database) {
    super();
  }

  async spent(fence: Fence, signers: readonly DailySigner[]): Promise<ReadonlyMap<string, Spent>> {
    if (signers.length === 0) return new Map();
    for (const { signer } of signers) fence.tokenFor(signer);
    const tx = PgTx.of(fence.tx);
    const keys = signerColumns(signers.map(({ signer }) => signer));
    await tx.query(SETTLE_SPENDING, keys);
    await this.reserveInFlight(fence, signers);
    const { rows } = await tx.query<SpendingRow & { next_in_ms: number | null }>(SPENT, keys);
    return new Map(
      rows.map((row) => [
        signerKey(parseSigner(row.chain_id, row.signer)),
        { ...spendingOf(row), nextInMs: row.next_in_ms },
      ]),
    );
  }

  async seen(signers: readonly SignerId[]): Promise<ReadonlyMap<string, Spending>> {
    if (signers.length === 0) return new Map();
    const { rows } = await this.database.query<SpendingRow>(SEEN, signerColumns(signers));
    return new Map(rows.map((row) => [signerKey(parseSigner(row.chain_id, row.signer)), spendingOf(row)]));
  }

  async reserveInFlight(fence: Fence, signers: readonly DailySigner[]): Promise<void> {
    if (signers.length === 0) return;
    for (const { signer } of signers) fence.tokenFor(signer);
    await PgTx.of(fence.tx).query(RESERVE_IN_FLIGHT, [
      ...signerColumns(signers.map(({ signer }) => signer)),
      signers.map(({ maxFeePerGas }) => maxFeePerGas),
      signers.map(({ maxFeePerBlobGas }) => maxFeePerBlobGas),
    ]);
  }

  async reserved(fence: Fence | null, slots: readonly SlotRef[]): Promise<ReadonlyMap<string, Spending>> {
    if (slots.length === 0) return new Map();
    const { rows } = await (fence === null ? this.database : PgTx.of(fence.tx)).query<SpendingRow & { nonce: string }>(
      RESERVED,
      slotColumns(slots),
    );
    return new Map(
      rows.map((row) => [
        slotKey({ signer: parseSigner(row.chain_id, row.signer), nonce: BigInt(row.nonce) }),
        spendingOf(row),
      ]),
    );
  }

  async reserve(fence: Fence, reserves: readonly Reserve[]): Promise<void> {
    if (reserves.length === 0) return;
    for (const { signer } of reserves) fence.tokenFor(signer);
    await PgTx.of(fence.tx).query(RESERVE, [
      ...slotColumns(reserves),
      reserves.map(({ value }) => value),
      reserves.map(({ fees }) => fees),
    ]);
  }
}

function spendingOf({ value, fees }: SpendingRow): Spending {
  return { value: BigInt(value), fees: BigInt(fees) };
}
