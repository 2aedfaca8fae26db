import { Injectable } from '@nestjs/common';
import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { parseAddress } from '../../../kernel/hex.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, parseSigner, type SignerId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue, type Statement } from '../../../platform/database/pg-tx.js';
import { type Fence, isPaused, isStopped, signerColumns } from '../../signers/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import {
  type LockedForNonce,
  type PendingTx,
  type SignerRoom,
  type SignerWork,
  TxQueue,
  type WaitingQueue,
} from '../domain/tx-queue.js';
import {
  lockTxs,
  PROGRESS_COLUMNS,
  type ProgressRow,
  REQUEST_COLUMNS,
  type RequestRow,
  toManagedTx,
  toRequested,
  wantsLonger,
} from './managed-tx.rows.js';
import { mayBeLost } from './permit-rows.js';
import { MAKE_HELD_DUE } from './pg-tx-writer.js';

/**
 * Since when a waiting row is ready, in the terms of the index managed_tx_waiting: always, if it was not tried; else when its timer has run
 * out.
 */
export const READY_SINCE = `coalesce(next_resubmit_at, '-infinity'::timestamptz)`;

/** Whether `p` is in front of the first parked tx of its queue, if there is one. */
const IS_BEFORE_PARKED = `(-p.priority, p.tx_id) < (coalesce(parked.rank, 2147483647), coalesce(parked.tx_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`;

/** A hold whose sender wants it longer has not. */
const HAS_EXPIRED = `coalesce(t.expires_at <= clock_timestamp(), false) AND NOT ${wantsLonger('t')}`;

/**
 * Less than a quarter of the time of a permit is left, so its tx may not be mined in time; or its owner is paused, and what it has signed is not to be used;
 * or another tx may be out with its nonce, which was taken back in a past that is lost.
 */
const LACKS_PERMIT = `(t.options ? 'permits' AND EXISTS (
             SELECT FROM jsonb_array_elements(t.options -> 'permits') AS p
              WHERE (p #>> '{made,deadline}')::float8 - (p ->> 'ttl')::float8 / 4 < extract(epoch FROM clock_timestamp()) OR ${isPaused('t.chain_id', `(p ->> 'owner')`)}
                 OR ${mayBeLost('t', `(p ->> 'owner')`, `(p ->> 'contract')`)}))`;

/**
 * Reads the index managed_tx_waiting: txs that were not tried in the order (priority, age), and txs that were tried and are due, the
 * longest due first. Only when more of those are due than there is room for, as after an outage, are they read by priority, each of which costs a
 * probe of managed_tx_tried. Reads no rows that are not due. Within one priority the two groups take turns, so neither blocks the other. Index
 * entries of rows that no longer wait stay until every transaction of the server is newer, and each read passes over them. A lane therefore
 * passes the position that it has reached, and the read begins there. Only higher priorities are read from the start. Nothing passes a
 * parked tx, which the balance did not cover: what is behind it waits until its timer runs out (docs/architecture.md, Parked queues).
 */
export const NEXT_PENDING = {
  name: 'tx_next_pending',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}, ${HAS_EXPIRED} AS expired,
           t.next_resubmit_at IS NOT NULL AS tried, ${isStopped('t.account_id')} AS stopped, ${LACKS_PERMIT} AS lacks_permit
      FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::uuid[]) AS w (chain_id, signer, room, rank, after)
      LEFT JOIN LATERAL (
        SELECT -k.priority AS rank, k.tx_id FROM managed_tx k
         WHERE k.chain_id = w.chain_id AND k.signer = w.signer AND k.state = 'PENDING' AND k.sub_state = 'INSUFFICIENT_FUNDS' AND k.next_resubmit_at > statement_timestamp()
         ORDER BY -k.priority, k.tx_id LIMIT 1) parked ON true
      LEFT JOIN LATERAL (
        SELECT p.tx_id FROM managed_tx p
         WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} > '-infinity' AND ${READY_SINCE} <= statement_timestamp()
         ORDER BY ${READY_SINCE} OFFSET w.room LIMIT 1) crowd ON true
     CROSS JOIN LATERAL (
       SELECT * FROM (
         SELECT *, row_number() OVER (PARTITION BY priority ORDER BY tx_id) AS turn FROM (
           (SELECT * FROM managed_tx p
             WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} = '-infinity' AND -p.priority < w.rank AND ${IS_BEFORE_PARKED}
             ORDER BY -p.priority, p.tx_id LIMIT w.room)
           UNION ALL
           (SELECT * FROM managed_tx p
             WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} = '-infinity' AND (-p.priority, p.tx_id) > (w.rank, w.after) AND ${IS_BEFORE_PARKED}
             ORDER BY -p.priority, p.tx_id LIMIT w.room)) fresh
         UNION ALL
         SELECT *, row_number() OVER (PARTITION BY priority ORDER BY next_resubmit_at) AS turn FROM (
           (SELECT * FROM managed_tx p
             WHERE crowd.tx_id IS NULL AND p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} > '-infinity' AND ${READY_SINCE} <= statement_timestamp() AND ${IS_BEFORE_PARKED}
             ORDER BY ${READY_SINCE} LIMIT w.room)
           UNION ALL
           (SELECT of_rank.* FROM (
              WITH RECURSIVE ranks AS (
                SELECT (SELECT min(-k.priority) FROM managed_tx k WHERE k.chain_id = w.chain_id AND k.signer = w.signer AND k.state = 'PENDING' AND k.next_resubmit_at IS NOT NULL) AS rank
                UNION ALL
                SELECT (SELECT min(-k.priority) FROM managed_tx k WHERE k.chain_id = w.chain_id AND k.signer = w.signer AND k.state = 'PENDING' AND k.next_resubmit_at IS NOT NULL AND -k.priority > r.rank) FROM ranks r WHERE r.rank IS NOT NULL)
              SELECT rank FROM ranks WHERE rank IS NOT NULL) r
             CROSS JOIN LATERAL (
               SELECT * FROM managed_tx p
                WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND -p.priority = r.rank AND p.next_resubmit_at IS NOT NULL
                  AND p.next_resubmit_at <= statement_timestamp() AND ${IS_BEFORE_PARKED}
                ORDER BY -p.priority, p.next_resubmit_at LIMIT w.room) of_rank
             WHERE crowd.tx_id IS NOT NULL)) again) both_kinds
        ORDER BY priority DESC, turn, tx_id LIMIT w.room) t
     WHERE NOT ${isPaused('w.chain_id', 'w.signer')}`,
};

/** Reads one entry of an index per tx, and passes over those of txs that no longer wait. */
export const COUNT_WAITING = {
  name: 'tx_count_waiting',
  text: `
    SELECT CASE WHEN k.account_id IS NULL THEN (
        SELECT count(*) FROM (
          SELECT 1 FROM managed_tx s WHERE s.chain_id = k.chain_id AND s.signer = k.signer AND s.state = 'PENDING'
           ORDER BY coalesce(s.next_resubmit_at, '-infinity'::timestamptz) LIMIT k.up_to) of_signer)
      ELSE (
        SELECT count(*) FROM (
          SELECT 1 FROM managed_tx a WHERE a.account_id = k.account_id AND a.account_id <> '${DEFAULT_ACCOUNT}' AND a.state = 'PENDING' LIMIT k.up_to) of_account)
      END::int AS count
      FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::int[]) WITH ORDINALITY AS k (chain_id, signer, account_id, up_to, position)
     ORDER BY k.position`,
};

/**
 * Only one of several txs that compete for one slot counts. Its cost grows with the number of txs in flight, so a lane counts rarely and keeps its own count
 * between.
 */
const COUNT_IN_FLIGHT = {
  name: 'tx_count_in_flight',
  text: `
    SELECT (SELECT count(*) FROM (
             SELECT FROM managed_tx t
              WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                AND t.sub_state IS DISTINCT FROM 'REPLACING'
              ORDER BY t.nonce LIMIT $3) AS live)::int AS count
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

/**
 * Runs only when an estimate reverts. The number of txs in flight is bounded, and waiting txs are read once per signer. Fills are left out:
 * they change no estimate, and a fill whose nonce cannot be decided may stay in flight for long. So are txs of stopped accounts: a stop may last for long.
 */
const OLDEST_UNMINED = {
  name: 'tx_oldest_unmined',
  text: `
    SELECT w.chain_id, w.signer, least(
             (SELECT t.tx_id FROM managed_tx t
               WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.kind = 'payload' AND t.sub_state IS DISTINCT FROM 'REPLACING'
               ORDER BY t.tx_id LIMIT 1),
             (SELECT t.tx_id FROM managed_tx t
               WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.state = 'PENDING' AND coalesce(t.sub_state, '') NOT IN ('SIMULATION_REVERTED', 'ACCOUNT_STOPPED')
                 AND t.tx_id <> ALL($3::uuid[])
               ORDER BY t.tx_id LIMIT 1)) AS tx_id
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)`,
};

/** Like LOCK_PENDING, without the txs of paused signers and stopped accounts and what has expired meanwhile, and with the policies that hold. It runs under the fence, and SignerPauses.writesEnded waits for that. */
const LOCK_FOR_NONCE = {
  name: 'tx_lock_for_nonce',
  text: `
    SELECT t.tx_id, t.version, ${POLICY_MARK} AS policy_mark FROM managed_tx t
     WHERE t.tx_id = ANY($1::uuid[]) AND t.state || '' = 'PENDING' AND NOT (${HAS_EXPIRED}) AND NOT ${LACKS_PERMIT}
       AND NOT ${isPaused('t.chain_id', 't.signer', 't.account_id')}
     ORDER BY t.tx_id FOR UPDATE OF t SKIP LOCKED`,
};

/**
 * Runs only when a page of a queue has a tx of a stopped account. The front of the queues, which share the bound, in the order of managed_tx_waiting: a crowd of them would
 * otherwise be set aside page by page, and a page may be small. Under the fence, so that the end of a stop, which waits for that, finds all that
 * was set aside.
 */
const LOCK_STOPPED = {
  name: 'tx_lock_stopped',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.state || '' = 'PENDING' AND ${isStopped('t.account_id')} AND t.tx_id = ANY(
       ARRAY(SELECT front.tx_id FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)
              CROSS JOIN LATERAL (
                SELECT p.tx_id FROM managed_tx p
                 WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} <= statement_timestamp()
                 ORDER BY ${READY_SINCE}, -p.priority, p.tx_id LIMIT $4) front) || $3::uuid[])
     ORDER BY t.tx_id FOR UPDATE OF t SKIP LOCKED`,
};

/**
 * Only timers change. All are due from now on, in the order in which they came: due since they were created, they would come before all others
 * that were tried. What somebody is judging is passed over, and has a timer.
 */
const MAKE_STOPPED_DUE = {
  name: 'tx_make_stopped_due',
  text: `
    UPDATE managed_tx t SET next_resubmit_at = statement_timestamp() - interval '1 second' + stopped.place * interval '1 microsecond'
      FROM (SELECT l.tx_id, row_number() OVER (ORDER BY l.tx_id) AS place FROM (
             SELECT k.tx_id FROM managed_tx k
              WHERE k.account_id = $1 AND k.state = 'PENDING' AND k.sub_state = 'ACCOUNT_STOPPED' AND k.next_resubmit_at > clock_timestamp()
              ORDER BY k.tx_id LIMIT $2 FOR UPDATE SKIP LOCKED) l) stopped
     WHERE t.tx_id = stopped.tx_id`,
};

/** Owners of permits: jumps from one to the next. */
const permitOwners = (list: string, which: string): string => `
      (SELECT owner FROM permit_nonce WHERE chain_id = $1 AND ${which} ORDER BY owner LIMIT 1)
      UNION ALL
      SELECT (SELECT p.owner FROM permit_nonce p WHERE p.chain_id = $1 AND ${which} AND p.owner > o.owner ORDER BY p.owner LIMIT 1)
        FROM ${list} o WHERE o.owner IS NOT NULL`;

/**
 * A loose index scan: it jumps from signer to signer, so 100,000 waiting txs of one signer cost one probe, and idle signers cost nothing. A
 * subquery reads the leases: a join that was planned for an empty table would compare each signer with each lease.
 * A command may wait although its tx has ended: the owner died in between, and its replacement would wait for ever. Nobody would notice that the
 * chain of a signer without work agrees with our books again.
 */
export const SIGNERS_WITH_WORK = {
  name: 'tx_signers_with_work',
  text: `
    WITH RECURSIVE pending AS (
      (SELECT signer FROM managed_tx WHERE chain_id = $1 AND state = 'PENDING' ORDER BY signer LIMIT 1)
      UNION ALL
      SELECT (SELECT t.signer FROM managed_tx t WHERE t.chain_id = $1 AND t.state = 'PENDING' AND t.signer > p.signer ORDER BY t.signer LIMIT 1)
        FROM pending p WHERE p.signer IS NOT NULL),
    live AS (
      (SELECT signer FROM managed_tx WHERE chain_id = $1 AND state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED') ORDER BY signer LIMIT 1)
      UNION ALL
      SELECT (SELECT t.signer FROM managed_tx t WHERE t.chain_id = $1 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED') AND t.signer > l.signer ORDER BY t.signer LIMIT 1)
        FROM live l WHERE l.signer IS NOT NULL),
    wanting AS (${permitOwners('wanting', `status = 'WANTED'`)}),
    holding AS (${permitOwners('holding', `status IN ('HELD', 'LOST')`)})
    SELECT work.signer, bool_or(work.pending) AS pending,
           coalesce((SELECT CASE WHEN l.expires_at > clock_timestamp() THEN CASE WHEN l.owner_node = $2 THEN 'free' ELSE 'held' END
                                 WHEN l.expires_at = '-infinity' THEN 'free' ELSE 'lapsed' END
                       FROM signer_lease l WHERE l.chain_id = $1 AND l.signer = work.signer), 'free') AS lease
      FROM (SELECT p.signer, (
                     SELECT true FROM managed_tx t
                      WHERE t.chain_id = $1 AND t.signer = p.signer AND t.state = 'PENDING' AND ${READY_SINCE} <= statement_timestamp() AND NOT ${isPaused('$1', 'p.signer')}
                      ORDER BY t.chain_id, t.signer, ${READY_SINCE} LIMIT 1) IS NOT NULL AS pending
              FROM pending p
            UNION ALL SELECT signer, false FROM live
            UNION ALL SELECT authority, false FROM tx_authorization WHERE chain_id = $1
            UNION ALL SELECT owner, false FROM wanting
            UNION ALL SELECT owner, false FROM holding
            UNION ALL SELECT signer, false FROM signer_nonce_cursor WHERE chain_id = $1 AND behind IS NOT NULL
            UNION ALL SELECT signer, true FROM tx_command WHERE chain_id = $1 AND status = 'QUEUED') AS work
     WHERE work.signer IS NOT NULL GROUP BY work.signer`,
};

/**
 * Signers whose leases were not released as idle. Every signer with unfinished txs has such a lease, except signers that were never worked
 * on. No tx leaves index entries behind in what this statement reads, so an old snapshot does not make it slower. It does not search for
 * txs that wait for their first try. An expired lease proves no work: a dead node leaves one for each signer that it ever held, and taking
 * over thousands of idle signers would cost as many lane steps. Of those it returns only signers with pending txs; SIGNERS_WITH_WORK finds
 * the others.
 */
export const SIGNERS_IN_WORK = {
  name: 'tx_signers_in_work',
  text: `
    SELECT * FROM (
      SELECT l.signer,
             (SELECT true FROM managed_tx t
               WHERE t.chain_id = $1 AND t.signer = l.signer AND t.state = 'PENDING' AND ${READY_SINCE} > '-infinity' AND ${READY_SINCE} <= statement_timestamp() AND NOT ${isPaused('$1', 'l.signer')}
               ORDER BY t.chain_id, t.signer, ${READY_SINCE} LIMIT 1) IS NOT NULL AS pending,
             CASE WHEN l.expires_at > clock_timestamp() THEN CASE WHEN l.owner_node = $2 THEN 'free' ELSE 'held' END
                  WHEN l.expires_at = '-infinity' THEN 'free' ELSE 'lapsed' END AS lease
        FROM signer_lease l WHERE l.chain_id = $1 AND NOT l.idle) AS work
     WHERE pending OR lease <> 'lapsed' ORDER BY signer`,
};

/** A row takes about 0.1 ms, so a page stays far below every statement time-out. */
const DUE_PAGE_TXS = 5_000;

/** Set aside with each look. */
const STOPPED_TXS = 1_000;

/** Below every rank. A rank is a priority with its sign changed. */
const BELOW_ALL_RANKS = -2_147_483_648;

@Injectable()
export class PgTxQueue extends TxQueue {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async nextPending(wanted: readonly SignerRoom[]): Promise<PendingTx[]> {
    if (wanted.length === 0) return [];
    const { rows } = await this.database.query<
      RequestRow & { expired: boolean; tried: boolean; stopped: boolean; lacks_permit: boolean }
    >(NEXT_PENDING, [
      ...signerColumns(wanted.map(({ signer }) => signer)),
      wanted.map(({ room }) => room),
      wanted.map(({ after }) => (after ? -after.priority : BELOW_ALL_RANKS)),
      wanted.map(({ after }) => after?.txId ?? '00000000-0000-0000-0000-000000000000'),
    ]);
    return rows.map((row) => ({
      ...toRequested(row),
      expired: row.expired,
      wasTried: row.tried,
      isStopped: row.stopped,
      lacksPermit: row.lacks_permit,
    }));
  }

  async countWaiting(queues: readonly WaitingQueue[]): Promise<number[]> {
    const { rows } = await this.database.query<{ count: number }>(COUNT_WAITING, [
      queues.map(({ signer }) => signer?.chainId ?? null),
      queues.map(({ signer }) => signer?.address ?? null),
      queues.map(({ account }) => account),
      queues.map(({ upTo }) => upTo),
    ]);
    return rows.map(({ count }) => count);
  }

  async countInFlight(signers: readonly SignerId[], upTo: number): Promise<number[]> {
    if (signers.length === 0) return [];
    const { rows } = await this.database.query<{ count: number }>(COUNT_IN_FLIGHT, [...signerColumns(signers), upTo]);
    return rows.map(({ count }) => count);
  }

  async oldestUnmined(signers: readonly SignerId[], besides: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.database.query<{ chain_id: string; signer: string; tx_id: string | null }>(
      OLDEST_UNMINED,
      [...signerColumns(signers), besides],
    );
    return new Map(
      rows.flatMap((row): [string, string][] =>
        row.tx_id === null ? [] : [[signerKey(parseSigner(row.chain_id, row.signer)), row.tx_id]],
      ),
    );
  }

  async lockForNonce(fence: Fence, txs: readonly ManagedTx[]): Promise<LockedForNonce> {
    const locked = await lockTxs<{ policy_mark: string }>(fence, LOCK_FOR_NONCE, txs);
    return { ids: new Set(locked.keys()), policyMark: [...locked.values()][0]?.policy_mark ?? null };
  }

  async lockStopped(fence: Fence, txs: readonly ManagedTx[]): Promise<ManagedTx[]> {
    const signers = signersOf(txs);
    const { rows } = await PgTx.of(fence.tx).query<ProgressRow>(LOCK_STOPPED, [
      ...signerColumns(signers),
      txs.map(({ id }) => id),
      Math.ceil(STOPPED_TXS / Math.max(1, signers.length)),
    ]);
    return rows.map(toManagedTx);
  }

  makeHeldDue(signer: SignerId): Promise<void> {
    return this.makeDue(MAKE_HELD_DUE, signerColumns([signer]));
  }

  makeStoppedDue(account: string): Promise<void> {
    return this.makeDue(MAKE_STOPPED_DUE, [account]);
  }

  private async makeDue(statement: Statement, whose: readonly SqlValue[]): Promise<void> {
    let made: number | null;
    do made = (await this.database.query(statement, [...whose, DUE_PAGE_TXS])).rowCount;
    while (made === DUE_PAGE_TXS);
  }

  signersWithWork(chainId: ChainId): Promise<SignerWork[]> {
    return this.readWork(SIGNERS_WITH_WORK, chainId);
  }

  signersInWork(chainId: ChainId): Promise<SignerWork[]> {
    return this.readWork(SIGNERS_IN_WORK, chainId);
  }

  private async readWork(statement: Statement, chainId: ChainId): Promise<SignerWork[]> {
    const { rows } = await this.database.query<{ signer: string; pending: boolean; lease: SignerWork['lease'] }>(
      statement,
      [chainId, this.node.id],
    );
    return rows.map((row) => ({
      signer: { chainId, address: parseAddress(row.signer) },
      hasPending: row.pending,
      lease: row.lease,
    }));
  }
}
