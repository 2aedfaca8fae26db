import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import { type Nonce, parseSigner, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import type { Fence } from '../domain/fence.js';
import { Custody } from '../domain/custody.js';
import { signerColumns, slotColumns } from './key-columns.js';
import {
  type MovedGap,
  NonceLedger,
  type RacedSlot,
  type SequenceState,
  type SlotHolder,
  type SlotRef,
} from '../domain/nonce-ledger.js';

/** GREATEST: alignment raises the cursor and never lowers it. */
const ALIGN = {
  name: 'nonce_align',
  text: `
    INSERT INTO signer_nonce_cursor AS c (chain_id, signer, next_nonce, fencing_token, last_synced_at)
    SELECT n.chain_id, n.signer, n.nonce, n.token, clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS n (chain_id, signer, nonce, token)
     ORDER BY 1, 2
        ON CONFLICT (chain_id, signer) DO UPDATE
       SET next_nonce = GREATEST(c.next_nonce, excluded.next_nonce), fencing_token = excluded.fencing_token, last_synced_at = clock_timestamp()`,
};

const CURSORS = {
  name: 'nonce_cursors',
  text: `
    SELECT c.chain_id, c.signer, c.next_nonce AS nonce FROM signer_nonce_cursor c
      JOIN unnest($1::bigint[], $2::text[]) AS w (chain_id, signer) ON w.chain_id = c.chain_id AND w.signer = c.signer`,
};

/** A foreign transaction used the nonce of a RELEASED slot below the nonce of the chain. No tx may get that nonce again. */
const FORGET_PASSED = {
  name: 'nonce_forget_passed',
  text: `
    DELETE FROM signer_nonce_allocation s
     USING unnest($1::bigint[], $2::text[], $3::bigint[]) AS n (chain_id, signer, nonce)
     WHERE s.chain_id = n.chain_id AND s.signer = n.signer AND s.nonce < n.nonce AND s.status = 'RELEASED'`,
};

/**
 * The lowest slot of signer `n` at or above its nonce. Most nonces above the one of the chain are in flight, so this reads one entry of the
 * primary key.
 */
const LOWEST_FROM = `(
       SELECT s.nonce FROM signer_nonce_allocation s
        WHERE s.chain_id = n.chain_id AND s.signer = n.signer AND s.nonce >= n.nonce
        ORDER BY s.nonce LIMIT 1)`;

const MISSING = {
  name: 'nonce_missing',
  text: `
    SELECT n.chain_id, n.signer, n.nonce, lowest.nonce - n.nonce AS count
      FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS n (chain_id, signer, nonce)
     CROSS JOIN LATERAL ${LOWEST_FROM} lowest
     WHERE lowest.nonce > n.nonce`,
};

/** What becomes free where outside senders have the key is `outside`: they may have sent something, and when the key comes here, no payload gets it. */
const FREE_MISSING = {
  name: 'nonce_free_missing',
  text: `
    INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, outside, fencing_token)
    SELECT n.chain_id, n.signer, missing.nonce, 'RELEASED', n.is_external, n.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[]) AS n (chain_id, signer, nonce, token, is_external)
     CROSS JOIN LATERAL ${LOWEST_FROM} lowest
     CROSS JOIN LATERAL generate_series(greatest(n.nonce, lowest.nonce - $6::bigint), lowest.nonce - 1) AS missing (nonce)
     ORDER BY 1, 2, 3
    RETURNING chain_id, signer, nonce`,
};

const OPEN_FREE = {
  name: 'nonce_open_free',
  text: `
    INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, outside, fencing_token)
    SELECT n.chain_id, n.signer, n.nonce, 'RELEASED', n.is_external, n.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[]) AS n (chain_id, signer, nonce, token, is_external)
     ORDER BY 1, 2, 3`,
};

/** No payload of ours gets a nonce of a signer whose key outside senders have, so these get the lowest one whoever had it. */
const READ = {
  name: 'nonce_read',
  text: `
    SELECT c.chain_id, c.signer, c.next_nonce,
           ARRAY(SELECT s.nonce FROM signer_nonce_allocation s
                  WHERE s.chain_id = c.chain_id AND s.signer = c.signer AND s.status = 'RELEASED' AND (NOT s.outside OR w.is_external)
                  ORDER BY s.nonce LIMIT $3) AS released,
           ARRAY(SELECT s.nonce FROM signer_nonce_allocation s
                  WHERE s.chain_id = c.chain_id AND s.signer = c.signer AND s.status = 'RELEASED' AND s.outside AND NOT w.is_external
                    AND NOT EXISTS (SELECT FROM signer_nonce_allocation b
                                     WHERE b.chain_id = s.chain_id AND b.signer = s.signer AND b.nonce > s.nonce AND b.status = 'HELD')
                  ORDER BY s.nonce LIMIT $3) AS outside
      FROM signer_nonce_cursor c
      JOIN unnest($1::bigint[], $2::text[], $4::boolean[]) AS w (chain_id, signer, is_external) ON w.chain_id = c.chain_id AND w.signer = c.signer`,
};

/**
 * Holds slots, reserves daily amounts and moves cursors in one round trip. What had a released slot before may have left its reserve. The counts leave out a slot that exists and is not RELEASED, and a cursor that moved
 * since it was read: the caller compares the counts, so a used nonce is never given out again.
 */
const HOLD = {
  name: 'nonce_hold',
  text: `
    WITH held AS (
      INSERT INTO signer_nonce_allocation AS s (chain_id, signer, nonce, status, tx_id, outside, fencing_token)
      SELECT h.chain_id, h.signer, h.nonce, 'HELD', h.tx_id, h.outside, h.token
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::uuid[], $5::bigint[], $11::boolean[]) AS h (chain_id, signer, nonce, tx_id, token, outside)
       ORDER BY 1, 2, 3
          ON CONFLICT (chain_id, signer, nonce) DO UPDATE
         SET status = 'HELD', tx_id = excluded.tx_id, outside = s.outside OR excluded.outside, fencing_token = excluded.fencing_token, updated_at = clock_timestamp()
       WHERE s.status = 'RELEASED'
      RETURNING s.nonce),
    reserved AS (
      INSERT INTO signer_reserve (chain_id, signer, nonce, value, fees)
      SELECT n.chain_id, n.signer, n.nonce, n.value, n.fees
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $12::numeric[], $13::numeric[]) AS n (chain_id, signer, nonce, value, fees)
       WHERE n.value IS NOT NULL ORDER BY 1, 2, 3
          ON CONFLICT (chain_id, signer, nonce) DO UPDATE SET value = excluded.value, fees = excluded.fees),
    moved AS (
      UPDATE signer_nonce_cursor c SET next_nonce = m.to_nonce, fencing_token = m.token
        FROM unnest($6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[]) AS m (chain_id, signer, from_nonce, to_nonce, token)
       WHERE c.chain_id = m.chain_id AND c.signer = m.signer AND c.next_nonce = m.from_nonce
      RETURNING c.next_nonce)
    SELECT (SELECT count(*) FROM held)::int AS held, (SELECT count(*) FROM moved)::int AS moved`,
};

const ADOPT = {
  name: 'nonce_adopt',
  text: `
    INSERT INTO signer_nonce_allocation AS s (chain_id, signer, nonce, status, tx_id, fencing_token)
    SELECT a.chain_id, a.signer, a.nonce, 'HELD', a.tx_id, a.token
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::uuid[]) AS a (chain_id, signer, nonce, token, tx_id)
     ORDER BY 1, 2, 3
        ON CONFLICT (chain_id, signer, nonce) DO UPDATE
       SET status = 'HELD', tx_id = excluded.tx_id, fencing_token = excluded.fencing_token, updated_at = clock_timestamp()
     WHERE s.status = 'RELEASED'`,
};

/** Raises the cursor above the highest of the slots. It does not ask the chain, so `last_synced_at` of an existing cursor stays. */
const RAISE = {
  name: 'nonce_raise',
  text: `
    INSERT INTO signer_nonce_cursor AS c (chain_id, signer, next_nonce, fencing_token, last_synced_at)
    SELECT a.chain_id, a.signer, max(a.nonce) + 1, max(a.token), clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS a (chain_id, signer, nonce, token)
     GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (chain_id, signer) DO UPDATE
       SET next_nonce = GREATEST(c.next_nonce, excluded.next_nonce), fencing_token = excluded.fencing_token`,
};

const GAPS = {
  name: 'nonce_gaps',
  text: `
    SELECT s.chain_id, s.signer, s.nonce FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
      JOIN signer_nonce_allocation s ON s.chain_id = w.chain_id AND s.signer = w.signer AND s.status = 'RELEASED'
     WHERE EXISTS (SELECT FROM signer_nonce_allocation higher
                    WHERE higher.chain_id = s.chain_id AND higher.signer = s.signer AND higher.nonce > s.nonce AND higher.status = 'HELD')
        OR $3 AND s.outside
     ORDER BY 1, 2, 3`,
};

/** The signers whose lowest gap is not the one that was told last; that one as `before`. One that is not external had its key elsewhere when one was told. */
const GAPS_MOVED = `
    SELECT c.chain_id, c.signer, c.gap AS before, lowest.nonce AS gap FROM unnest($1::bigint[], $2::text[], $3::boolean[]) AS w (chain_id, signer, is_external)
      JOIN signer_nonce_cursor c ON c.chain_id = w.chain_id AND c.signer = w.signer
      LEFT JOIN LATERAL (
        SELECT s.nonce FROM signer_nonce_allocation s
         WHERE w.is_external AND s.chain_id = c.chain_id AND s.signer = c.signer AND s.status = 'RELEASED'
           AND EXISTS (SELECT FROM signer_nonce_allocation higher
                        WHERE higher.chain_id = s.chain_id AND higher.signer = s.signer AND higher.nonce > s.nonce AND higher.status = 'HELD')
           AND NOT EXISTS (SELECT FROM managed_tx m
                            WHERE m.chain_id = s.chain_id AND m.signer = s.signer AND m.nonce > s.nonce AND m.state = 'MINED')
           AND NOT EXISTS (SELECT FROM signer_nonce_allocation used
                            WHERE used.chain_id = s.chain_id AND used.signer = s.signer AND used.nonce > s.nonce AND used.status = 'CONSUMED')
         ORDER BY s.nonce LIMIT 1) lowest ON true
     WHERE c.gap IS DISTINCT FROM lowest.nonce`;

const MOVED_GAPS = { name: 'nonce_moved_gaps', text: GAPS_MOVED };

const NOTED_GAPS = {
  name: 'nonce_noted_gaps',
  text: `SELECT chain_id, signer, gap AS nonce FROM signer_nonce_cursor WHERE gap IS NOT NULL`,
};

const NOTE_GAPS = {
  name: 'nonce_note_gaps',
  text: `
    UPDATE signer_nonce_cursor c
       SET gap = m.gap, gap_since = CASE WHEN m.gap IS NOT NULL THEN clock_timestamp() END, fencing_token = t.token
      FROM (${GAPS_MOVED}) m
      JOIN unnest($1::bigint[], $2::text[], $4::bigint[]) AS t (chain_id, signer, token) ON t.chain_id = m.chain_id AND t.signer = m.signer
     WHERE c.chain_id = m.chain_id AND c.signer = m.signer
    RETURNING m.chain_id, m.signer, m.before, m.gap`,
};

const FILL = {
  name: 'nonce_fill',
  text: `
    UPDATE signer_nonce_allocation s SET status = 'HELD', tx_id = f.tx_id, tx_hash = NULL, fencing_token = f.token, updated_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::uuid[]) AS f (chain_id, signer, nonce, token, tx_id)
     WHERE s.chain_id = f.chain_id AND s.signer = f.signer AND s.nonce = f.nonce AND s.tx_id IS NULL`,
};

const RELEASE = {
  name: 'nonce_release',
  text: `
    UPDATE signer_nonce_allocation s SET status = 'RELEASED', tx_id = NULL, outside = s.outside OR r.is_external, fencing_token = r.token, updated_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[]) AS r (chain_id, signer, nonce, token, is_external)
     WHERE s.chain_id = r.chain_id AND s.signer = r.signer AND s.nonce = r.nonce AND s.status = 'HELD'`,
};

const FORGET = {
  name: 'nonce_forget',
  text: `
    DELETE FROM signer_nonce_allocation s
     USING unnest($1::bigint[], $2::text[], $3::bigint[]) AS n (chain_id, signer, nonce)
     WHERE s.chain_id = n.chain_id AND s.signer = n.signer AND s.nonce = n.nonce AND s.status = 'HELD'`,
};

const HAND_OVER = {
  name: 'nonce_hand_over',
  text: `
    UPDATE signer_nonce_allocation s SET tx_id = h.tx_id, fencing_token = h.token, updated_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::uuid[]) AS h (chain_id, signer, nonce, token, tx_id)
     WHERE s.chain_id = h.chain_id AND s.signer = h.signer AND s.nonce = h.nonce AND s.status = 'HELD'`,
};

const CONSUME = {
  name: 'nonce_consume',
  text: `
    UPDATE signer_nonce_allocation s SET status = 'CONSUMED', tx_hash = r.tx_hash, tx_id = CASE WHEN r.tx_hash IS NOT NULL THEN coalesce(r.tx_id, s.tx_id) END,
           fencing_token = r.token, updated_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::uuid[]) AS r (chain_id, signer, nonce, token, tx_hash, tx_id)
     WHERE s.chain_id = r.chain_id AND s.signer = r.signer AND s.nonce = r.nonce AND s.status = 'HELD'`,
};

const REOPEN = {
  name: 'nonce_reopen',
  text: `
    UPDATE signer_nonce_allocation s SET status = 'HELD', tx_hash = NULL, tx_id = coalesce(r.tx_id, s.tx_id), fencing_token = r.token, updated_at = clock_timestamp()
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::uuid[]) AS r (chain_id, signer, nonce, token, tx_id)
     WHERE s.chain_id = r.chain_id AND s.signer = r.signer AND s.nonce = r.nonce AND s.status = 'CONSUMED'`,
};

interface ReadRow {
  chain_id: string;
  signer: string;
  next_nonce: string;
  released: string[];
  outside: string[];
}

interface GapRow {
  chain_id: string;
  signer: string;
  before: string | null;
  gap: string | null;
}

interface SlotRow {
  chain_id: string;
  signer: string;
  nonce: string;
}

@Injectable()
export class PgNonceLedger extends NonceLedger {
  constructor(
    private readonly database: Database,
    private readonly custody: Custody,
  ) {
    super();
  }

  async align(fence: Fence, chainNonces: readonly SlotRef[]): Promise<void> {
    if (chainNonces.length === 0) return;
    const tx = PgTx.of(fence.tx);
    const [chains, signers, nonces, tokens] = fencedColumns(fence, chainNonces);
    await tx.query(ALIGN, [chains, signers, nonces, tokens]);
    await tx.query(FORGET_PASSED, [chains, signers, nonces]);
  }

  async cursors(signers: readonly SignerId[]): Promise<ReadonlyMap<string, Nonce>> {
    const { rows } = await this.database.query<SlotRow>(CURSORS, signerColumns(signers));
    return new Map(rows.map(slotOf).map(({ signer, nonce }) => [signerKey(signer), nonce]));
  }

  async read(fence: Fence, signers: readonly SignerId[], maxReleased: number): Promise<SequenceState[]> {
    const [chains, addresses, external] = this.withExternal(signers);
    const { rows } = await PgTx.of(fence.tx).query<ReadRow>(READ, [chains, addresses, maxReleased, external]);
    return rows.map((row) => ({
      signer: parseSigner(row.chain_id, row.signer),
      cursor: BigInt(row.next_nonce),
      released: row.released.map(BigInt),
      outside: row.outside.map(BigInt),
    }));
  }

  async hold(
    fence: Fence,
    slots: readonly SlotHolder[],
    cursors: readonly { readonly from: SequenceState; readonly to: Nonce }[],
  ): Promise<void> {
    if (slots.length === 0) return;
    const tx = PgTx.of(fence.tx);
    const [chains, signers, nonces, tokens] = fencedColumns(fence, slots);
    const { rows } = await tx.query<{ held: number; moved: number }>(HOLD, [
      chains,
      signers,
      nonces,
      slots.map((slot) => slot.txId),
      tokens,
      cursors.map(({ from }) => from.signer.chainId),
      cursors.map(({ from }) => from.signer.address),
      cursors.map(({ from }) => from.cursor),
      cursors.map(({ to }) => to),
      cursors.map(({ from }) => fence.tokenFor(from.signer)),
      slots.map(({ isOutside = false }) => isOutside),
      slots.map(({ reserve }) => reserve?.value ?? null),
      slots.map(({ reserve }) => reserve?.fees ?? null),
    ]);
    expectRows('hold', rows[0]?.held ?? null, slots.length);
    expectRows('move cursor', rows[0]?.moved ?? null, cursors.length);
  }

  async adopt(fence: Fence, slots: readonly SlotHolder[]): Promise<void> {
    if (slots.length === 0) return;
    const tx = PgTx.of(fence.tx);
    const columns = fencedColumns(fence, slots);
    const { rowCount } = await tx.query(ADOPT, [...columns, slots.map(({ txId }) => txId)]);
    expectRows('adopt', rowCount, slots.length);
    await tx.query(RAISE, columns);
  }

  async freeMissing(fence: Fence, chainNonces: readonly SlotRef[], atMost: number): Promise<SlotRef[]> {
    const { rows } = await PgTx.of(fence.tx).query<SlotRow>(FREE_MISSING, [
      ...this.freedColumns(fence, chainNonces),
      atMost,
    ]);
    return rows.map(slotOf);
  }

  async openFree(fence: Fence, slots: readonly SlotRef[]): Promise<void> {
    if (slots.length === 0) return;
    await PgTx.of(fence.tx).query(OPEN_FREE, this.freedColumns(fence, slots));
  }

  async missing(chainNonces: readonly SlotRef[]): Promise<(SlotRef & { readonly count: number })[]> {
    if (chainNonces.length === 0) return [];
    const { rows } = await this.database.query<SlotRow & { count: string }>(MISSING, slotColumns(chainNonces));
    return rows.map((row) => ({ ...slotOf(row), count: Number(row.count) }));
  }

  async gaps(signers: readonly SignerId[], alsoUnwanted = false, fence?: Fence): Promise<SlotRef[]> {
    if (signers.length === 0) return [];
    const runner = fence ? PgTx.of(fence.tx) : this.database;
    const { rows } = await runner.query<SlotRow>(GAPS, [...signerColumns(signers), alsoUnwanted]);
    return rows.map(slotOf);
  }

  async movedGaps(signers: readonly SignerId[]): Promise<MovedGap[]> {
    if (signers.length === 0) return [];
    const { rows: noted } = await this.database.query<SlotRow>(NOTED_GAPS, []);
    const known = new Set(noted.map(slotOf).map(({ signer }) => signerKey(signer)));
    const some = signers.filter((signer) => this.custody.isExternal(signer) || known.has(signerKey(signer)));
    if (some.length === 0) return [];
    const { rows } = await this.database.query<GapRow>(MOVED_GAPS, this.withExternal(some));
    return rows.map(toMovedGap);
  }

  async noteGaps(fence: Fence, signers: readonly SignerId[]): Promise<MovedGap[]> {
    const tokens = signers.map((signer) => fence.tokenFor(signer));
    const { rows } = await PgTx.of(fence.tx).query<GapRow>(NOTE_GAPS, [...this.withExternal(signers), tokens]);
    return rows.map(toMovedGap);
  }

  async fill(fence: Fence, slots: readonly SlotHolder[]): Promise<void> {
    if (slots.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(FILL, [
      ...fencedColumns(fence, slots),
      slots.map(({ txId }) => txId),
    ]);
    expectRows('fill', rowCount, slots.length);
  }

  async release(fence: Fence, slots: readonly SlotRef[]): Promise<void> {
    if (slots.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(RELEASE, this.freedColumns(fence, slots));
    expectRows('release', rowCount, slots.length);
  }

  async forget(fence: Fence, slots: readonly SlotRef[]): Promise<void> {
    if (slots.length === 0) return;
    for (const { signer } of slots) fence.tokenFor(signer);
    const { rowCount } = await PgTx.of(fence.tx).query(FORGET, slotColumns(slots));
    expectRows('forget', rowCount, slots.length);
  }

  async handOver(fence: Fence, slots: readonly SlotHolder[]): Promise<void> {
    if (slots.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(HAND_OVER, [
      ...fencedColumns(fence, slots),
      slots.map(({ txId }) => txId),
    ]);
    expectRows('hand over', rowCount, slots.length);
  }

  async reopen(fence: Fence, slots: readonly RacedSlot[]): Promise<void> {
    if (slots.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(REOPEN, [
      ...fencedColumns(fence, slots),
      slots.map(({ holder }) => holder ?? null),
    ]);
    expectRows('reopen', rowCount, slots.length);
  }

  async consume(fence: Fence, slots: readonly (RacedSlot & { readonly txHash: Hash | null })[]): Promise<void> {
    if (slots.length === 0) return;
    const { rowCount } = await PgTx.of(fence.tx).query(CONSUME, [
      ...fencedColumns(fence, slots),
      slots.map((slot) => slot.txHash),
      slots.map(({ holder }) => holder ?? null),
    ]);
    expectRows('consume', rowCount, slots.length);
  }

  /** With whether outside senders have the key of each. */
  private withExternal(signers: readonly SignerId[]): [...ReturnType<typeof signerColumns>, boolean[]] {
    return [...signerColumns(signers), signers.map((signer) => this.custody.isExternal(signer))];
  }

  private freedColumns(fence: Fence, slots: readonly SlotRef[]): [...ReturnType<typeof fencedColumns>, boolean[]] {
    return [...fencedColumns(fence, slots), slots.map(({ signer }) => this.custody.isExternal(signer))];
  }
}

function slotOf(row: SlotRow): SlotRef {
  return { signer: parseSigner(row.chain_id, row.signer), nonce: BigInt(row.nonce) };
}

function toMovedGap({ chain_id, signer, before, gap }: GapRow): MovedGap {
  const nonceOf = (text: string | null): Nonce | null => (text === null ? null : BigInt(text));
  return { signer: parseSigner(chain_id, signer), before: nonceOf(before), gap: nonceOf(gap) };
}

/** With the fencing token of each. */
function fencedColumns(fence: Fence, slots: readonly SlotRef[]): [number[], string[], Nonce[], bigint[]] {
  return [...slotColumns(slots), slots.map((slot) => fence.tokenFor(slot.signer))];
}

/** Only the owner of the lease changes these rows. A different count is a fault in Lockstep, so the whole transaction is rolled back. */
function expectRows(operation: string, actual: number | null, expected: number): void {
  if (actual !== expected)
    throw new InvariantViolation(`nonce ledger: ${operation} found slots in an unexpected state`, { actual, expected });
}
