import { GAS_PER_BLOB } from '../domain/tx-cost.js';
import { PROGRESS_COLUMNS, REQUEST_COLUMNS } from './managed-tx.rows.js';

/** Above every nonce, which is a bigint. */
const MAX_BIGINT = '9223372036854775807';

/**
 * Consumed slots `s` of every signer `g` whose nonce may have been used in block `$2` or above: those above the highest nonce whose tx was
 * mined below that block.
 */
export const CONSUMED_FROM_BLOCK = `
      FROM signer g
     CROSS JOIN LATERAL (
       SELECT coalesce((
         SELECT s.nonce FROM signer_nonce_allocation s JOIN managed_tx m ON m.tx_id = s.tx_id
          WHERE s.chain_id = g.chain_id AND s.signer = g.address AND s.status = 'CONSUMED' AND m.block_number < $2
          ORDER BY s.nonce DESC LIMIT 1), -1) AS nonce) b
      JOIN signer_nonce_allocation s
        ON s.chain_id = g.chain_id AND s.signer = g.address AND s.nonce > b.nonce AND s.status = 'CONSUMED'`;

/** The tx `t` of a signed authorization is not mined: the signature may still be used. */
export const IS_OUT = `(t.block_number IS NULL OR t.closing IS NOT NULL)`;

export const FINAL_STATES = `('CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED')`;

/*
 * PostgreSQL caches plans per connection. It makes the first ones while the tables are empty, when every index, and no index, seems equally
 * cheap. The connections of the service therefore plan only nested loops over indexes (data-source.ts), and a statement that several
 * indexes could serve asks for the order that only the right one has (docs/performance.md).
 */

/**
 * Intake: rows and their first events in one statement and one commit. Rows are sorted by key, so that two batches with the same keys wait
 * for each other and do not deadlock. A key that exists is not changed; LOOK_UP reads it. A key that is already visible is not even
 * inserted, because ON CONFLICT would wait for the transaction that changes that row, and the whole batch with it. Subqueries hide the
 * arrays from the planner, which would make a new plan for each other length: for a single request that took a third of its time.
 * Statements over many rows want the new plan.
 */
export const INSERT_PENDING = {
  name: 'tx_insert_pending',
  text: `
    WITH input AS (
      SELECT i.*, (SELECT s.paused_at IS NOT NULL FROM signer s WHERE s.chain_id = i.chain_id AND s.address = i.signer) AS paused
        FROM unnest((SELECT $1::uuid[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::numeric[]), (SELECT $8::text[]), (SELECT $9::jsonb[]), (SELECT $10::int[]), (SELECT $11::int[]), (SELECT $12::timestamptz[]), (SELECT $13::jsonb[]), (SELECT $15::boolean[]))
             AS i (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, served)),
    inserted AS (
      INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, state)
      SELECT tx_id, chain_id, signer, request_id, request_hash, to_address, value, decode(substr(data, 3), 'hex'), options, priority, confirmations, expires_at, metadata, 'PENDING'
        FROM input i
       WHERE paused IS NOT NULL AND served AND i.request_id IS DISTINCT FROM (
         SELECT t.request_id FROM managed_tx t
          WHERE t.chain_id = i.chain_id AND t.signer = i.signer AND t.request_id >= i.request_id
          ORDER BY t.request_id LIMIT 1)
       ORDER BY chain_id, signer, request_id, tx_id
          ON CONFLICT (chain_id, signer, request_id) DO NOTHING
      RETURNING tx_id, chain_id),
    queued AS (
      INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id)
      SELECT chain_id, tx_id, 'queued', 'PENDING', $14 FROM inserted)
    SELECT i.tx_id, i.paused IS NOT NULL AS known, i.paused, n.tx_id IS NOT NULL AS created FROM input i LEFT JOIN inserted n ON n.tx_id = i.tx_id`,
};

/** Runs after the insert, so it sees a row that another connection committed while the insert waited for it. */
export const LOOK_UP = {
  name: 'tx_look_up',
  text: `
    SELECT k.position::int AS position, t.tx_id, t.state, t.nonce, t.tx_hash, t.request_hash
      FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS k (chain_id, signer, request_id, position)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m WHERE m.chain_id = k.chain_id AND m.signer = k.signer AND m.request_id >= k.request_id
        ORDER BY m.request_id LIMIT 1) t
     WHERE t.request_id = k.request_id`,
};

/**
 * Of several txs that compete for one slot only one counts. Its cost grows with the number of txs in flight, so a lane counts rarely and keeps its own count
 * between.
 */
export const COUNT_IN_FLIGHT = {
  name: 'tx_count_in_flight',
  text: `
    SELECT (SELECT count(*) FROM (
             SELECT FROM managed_tx t
              WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                AND t.sub_state IS DISTINCT FROM 'REPLACING'
              ORDER BY t.nonce LIMIT $3) AS live)::int AS count
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

/** Runs only after a pool refused a tx for a limit. Two txs that compete for one slot count once. */
export const IN_FLIGHT_AROUND = {
  name: 'tx_in_flight_around',
  text: `
    SELECT (SELECT count(DISTINCT t.nonce) FROM managed_tx t
             WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.nonce < w.nonce AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
               AND t.sub_state IS DISTINCT FROM 'REPLACING')::int AS below,
           EXISTS (SELECT FROM managed_tx t
             WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce > w.nonce AND t.state = 'IN_MEMPOOL' AND t.sub_state IS DISTINCT FROM 'POOL_LIMIT') AS passed
      FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS w (chain_id, signer, nonce, position) ORDER BY w.position`,
};

/** Runs only when a pool that refused txs of a signer may have room. */
export const WAITING_FOR_POOL = {
  name: 'tx_waiting_for_pool',
  text: `
    SELECT t.* FROM unnest($1::bigint[], $2::text[], $3::int[]) AS w (chain_id, signer, room)
     CROSS JOIN LATERAL (
       SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
        WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.sub_state = 'POOL_LIMIT'
        ORDER BY t.nonce LIMIT w.room) t
     ORDER BY t.chain_id, t.signer, t.nonce`,
};

/**
 * Reads one row for each tx in flight, in the order of managed_tx_live; of a race that of the newest, which has the kind of the others. Runs only
 * while blobs or authorizations are around. An authorization that a signer gave for the tx of another one is in flight until that tx is mined.
 */
export const KINDS_IN_FLIGHT = {
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

/**
 * Since when a waiting row is ready, in the terms of the index managed_tx_waiting: always, if it was not tried; else when its timer has run
 * out.
 */
const READY_SINCE = `coalesce(next_resubmit_at, '-infinity'::timestamptz)`;

/** Whether `p` is in front of the first parked tx of its queue, if there is one. */
const IS_BEFORE_PARKED = `(-p.priority, p.tx_id) < (coalesce(parked.rank, 2147483647), coalesce(parked.tx_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`;

/** A probe of an index that is nearly always empty. */
const IS_PAUSED = (of: string): string =>
  `EXISTS (SELECT FROM signer g WHERE g.chain_id = ${of}.chain_id AND g.address = ${of}.signer AND g.paused_at IS NOT NULL)`;

/**
 * Reads the index managed_tx_waiting: txs that were not tried in the order (priority, age), and txs that were tried and are due, the
 * longest due first. Reads no rows that are not due. Within one priority the two groups take turns, so neither blocks the other. Index
 * entries of rows that no longer wait stay until every transaction of the server is newer, and each read passes over them. A lane therefore
 * passes the position that it has reached, and the read begins there. Only higher priorities are read from the start. Nothing passes a
 * parked tx, which the balance did not cover: what is behind it waits until its timer runs out (docs/architecture.md, Parked queues).
 */
export const NEXT_PENDING = {
  name: 'tx_next_pending',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}, coalesce(t.expires_at <= clock_timestamp(), false) AS expired,
           t.next_resubmit_at IS NOT NULL AS tried
      FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::uuid[]) AS w (chain_id, signer, room, rank, after)
      LEFT JOIN LATERAL (
        SELECT -k.priority AS rank, k.tx_id FROM managed_tx k
         WHERE k.chain_id = w.chain_id AND k.signer = w.signer AND k.state = 'PENDING' AND k.sub_state = 'INSUFFICIENT_FUNDS' AND k.next_resubmit_at > statement_timestamp()
         ORDER BY -k.priority, k.tx_id LIMIT 1) parked ON true
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
           SELECT * FROM managed_tx p
            WHERE p.chain_id = w.chain_id AND p.signer = w.signer AND p.state = 'PENDING' AND ${READY_SINCE} > '-infinity' AND ${READY_SINCE} <= statement_timestamp() AND ${IS_BEFORE_PARKED}
            ORDER BY ${READY_SINCE} LIMIT w.room) again) both_kinds
        ORDER BY priority DESC, turn, tx_id LIMIT w.room) t
     WHERE NOT ${IS_PAUSED('w')}`,
};

/** The state is concatenated so that only the primary key fits: a plan with managed_tx_waiting would read all waiting txs. */
export const LOCK_PENDING = {
  name: 'tx_lock_pending',
  text: `SELECT t.tx_id, t.version FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[]) AND t.state || '' = 'PENDING' ORDER BY t.tx_id FOR UPDATE SKIP LOCKED`,
};

/** Like LOCK_PENDING, without the txs of paused signers. It runs under the fence, and SignerPauses.writesEnded waits for that. */
export const LOCK_FOR_NONCE = {
  name: 'tx_lock_for_nonce',
  text: `
    SELECT t.tx_id, t.version FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[]) AND t.state || '' = 'PENDING' AND NOT ${IS_PAUSED('t')}
     ORDER BY t.tx_id FOR UPDATE OF t SKIP LOCKED`,
};

export const ALLOCATED = {
  name: 'tx_allocated',
  text: `
    SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}
      FROM managed_tx t JOIN unnest($1::bigint[], $2::text[]) AS w (chain_id, signer) ON w.chain_id = t.chain_id AND w.signer = t.signer
     WHERE t.state = 'ALLOCATED' ORDER BY t.chain_id, t.signer, t.nonce`,
};

export const REQUESTED = {
  name: 'tx_requested',
  text: `SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS} FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[])`,
};

/**
 * Runs only when an estimate reverts. The number of txs in flight is bounded, and waiting txs are read once per signer. Fills are left out:
 * they change no estimate, and a fill whose nonce cannot be decided may stay in flight for long.
 */
export const OLDEST_UNMINED = {
  name: 'tx_oldest_unmined',
  text: `
    SELECT w.chain_id, w.signer, least(
             (SELECT t.tx_id FROM managed_tx t
               WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.kind = 'payload' AND t.sub_state IS DISTINCT FROM 'REPLACING'
               ORDER BY t.tx_id LIMIT 1),
             (SELECT t.tx_id FROM managed_tx t
               WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.state = 'PENDING' AND t.sub_state IS DISTINCT FROM 'SIMULATION_REVERTED'
                 AND t.tx_id <> ALL($3::uuid[])
               ORDER BY t.tx_id LIMIT 1)) AS tx_id
      FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)`,
};

/**
 * The sum of what {@link costOf} says. The most expensive attempt of each slot counts, because any of them can be mined; a no-op that competes
 * with blobs has one. Only one tx of a slot can be: of two that compete, the
 * one that costs more counts, and none after one of them was mined.
 */
export const COMMITTED_WEI = {
  name: 'tx_committed_wei',
  text: `
    SELECT coalesce((
             SELECT sum(slot.wei) FROM (
               SELECT max(t.value + coalesce((
                        SELECT max(t.gas_limit * a.max_fee_per_gas + CASE WHEN a.max_fee_per_blob_gas IS NULL THEN 0
                                   ELSE ${GAS_PER_BLOB} * a.max_fee_per_blob_gas * coalesce(jsonb_array_length(t.options -> 'blobHashes'), 1) END)
                          FROM tx_attempt a
                         WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.status <> 'REJECTED'), 0)) AS wei
                 FROM managed_tx t
                WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                  AND (t.replaces IS NULL AND t.replaced_by IS NULL OR NOT EXISTS (
                        SELECT FROM managed_tx m WHERE m.chain_id = t.chain_id AND m.signer = t.signer AND m.nonce = t.nonce AND m.state = 'MINED'))
                GROUP BY t.nonce) slot), 0) AS wei
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (chain_id, signer, position) ORDER BY w.position`,
};

/**
 * Reads the lowest unmined nonces along managed_tx_live. A tx that a replacement competes with is left out: only the replacement gets
 * another price, and none while a rival of it is mined.
 */
export const LOWEST_UNMINED = {
  name: 'tx_lowest_unmined',
  text: `
    SELECT ${PROGRESS_COLUMNS}, a.kind AS attempt_kind, a.priced_at_block, a.error_class
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
 * `clock_timestamp()` may change within a statement, so PostgreSQL searches no index by it and would also read what is not due. The signers
 * are concatenated so that only the index of timers fits.
 */
export const DUE_FOR_RESUBMIT = {
  name: 'tx_due_for_resubmit',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.chain_id = $1 AND (t.signer || '') = ANY($2::text[]) AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.next_resubmit_at <= statement_timestamp()
     ORDER BY t.next_resubmit_at, t.nonce LIMIT $3`,
};

export const DUE_FOR_RECEIPT = {
  name: 'tx_due_for_receipt',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.chain_id = $1 AND (t.signer || '') = ANY($2::text[]) AND t.state = 'IN_MEMPOOL' AND t.next_receipt_check_at <= statement_timestamp()
     ORDER BY t.next_receipt_check_at LIMIT $3`,
};

/** In the order of managed_tx_mined, which no other index on the state has. */
export const ANY_MINED = {
  name: 'tx_any_mined',
  text: `SELECT FROM managed_tx WHERE chain_id = $1 AND state = 'MINED' ORDER BY confirmations, block_number LIMIT 1`,
};

/**
 * Reads one range of managed_tx_mined for each number of confirmations in use, including none (the rule of the chain). It finds these
 * numbers with one index probe each, and reads no rows that are not deep enough. A column with the height at which a tx becomes final would
 * need only one range. But it would not work for a block tag, which moves by itself, and it would keep a rule after the config has changed.
 */
export const MINED_UP_TO = {
  name: 'tx_mined_up_to',
  text: `
    WITH RECURSIVE own AS (
      (SELECT confirmations FROM managed_tx WHERE chain_id = $1 AND state = 'MINED' AND confirmations >= 0 ORDER BY confirmations, block_number LIMIT 1)
      UNION ALL
      SELECT (SELECT t.confirmations FROM managed_tx t WHERE t.chain_id = $1 AND t.state = 'MINED' AND t.confirmations > o.confirmations ORDER BY t.confirmations, t.block_number LIMIT 1)
        FROM own o WHERE o.confirmations IS NOT NULL)
    (SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
      WHERE t.chain_id = $1 AND t.signer = ANY($2::text[]) AND t.state = 'MINED' AND t.confirmations IS NULL AND t.block_number <= $3
      ORDER BY t.confirmations, t.block_number LIMIT $6::bigint + $7::bigint)
    UNION ALL
    (SELECT ${PROGRESS_COLUMNS} FROM own o
      CROSS JOIN LATERAL (
        SELECT * FROM managed_tx m
         WHERE m.chain_id = $1 AND m.signer = ANY($2::text[]) AND m.state = 'MINED' AND m.confirmations = o.confirmations
           AND m.block_number <= least($4::bigint - o.confirmations, $5::bigint)
         ORDER BY m.confirmations, m.block_number LIMIT $6::bigint + $7::bigint) t)
     LIMIT $6 OFFSET $7`,
};

export const MINED_IN = {
  name: 'tx_mined_in',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.chain_id = $1 AND t.signer = ANY($2::text[]) AND t.state = 'MINED' AND t.block_hash = ANY($3::text[])`,
};

/**
 * Finished rows have no index by block: with a million of them it would cost too much. The block numbers of a signer grow with its nonces,
 * so this reads from its newest slot down to the first one that was mined below the lowest block.
 */
export const FINAL_IN = {
  name: 'tx_final_in',
  text: `
    SELECT ${PROGRESS_COLUMNS} ${CONSUMED_FROM_BLOCK}
      JOIN managed_tx t ON t.tx_id = s.tx_id
     WHERE g.chain_id = $1 AND t.block_hash = ANY($3::text[])
       AND t.state IN ${FINAL_STATES}`,
};

/** Without a list of signers: of all signers. Reads each signer from its newest slot down. */
export const NEWEST_FINAL = {
  name: 'tx_newest_final',
  text: `
    SELECT ${PROGRESS_COLUMNS}
      FROM signer g
      LEFT JOIN unnest($2::text[], $3::bigint[]) AS w (address, nonce) ON w.address = g.address
     CROSS JOIN LATERAL (
       SELECT m.* FROM signer_nonce_allocation s JOIN managed_tx m ON m.tx_id = s.tx_id
        WHERE s.chain_id = g.chain_id AND s.signer = g.address AND s.status = 'CONSUMED' AND s.nonce < coalesce(w.nonce, ${MAX_BIGINT})
          AND m.block_hash IS NOT NULL AND m.state IN ${FINAL_STATES}
        ORDER BY s.nonce DESC LIMIT $4) t
     WHERE g.chain_id = $1 AND ($2::text[] IS NULL OR w.address IS NOT NULL)`,
};

export const BY_IDS = {
  name: 'tx_by_ids',
  text: `SELECT ${PROGRESS_COLUMNS} FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[])`,
};

/**
 * Txs of a race, found by the attempts of the slot: finished rows have no index by nonce. A tx that once had the slot and moved to another
 * nonce is no rival, nor is one that never took part in a race.
 */
export const RIVALS = {
  name: 'tx_rivals',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
      JOIN (SELECT DISTINCT a.tx_id, a.nonce FROM tx_attempt a
              JOIN unnest($1::bigint[], $2::text[], $3::bigint[]) AS w (chain_id, signer, nonce)
                ON a.chain_id = w.chain_id AND a.signer = w.signer AND a.nonce = w.nonce) sent ON sent.tx_id = t.tx_id AND sent.nonce = t.nonce
     WHERE (t.replaces IS NOT NULL OR t.replaced_by IS NOT NULL) AND t.tx_id <> ALL($4::uuid[])
     ORDER BY t.tx_id`,
};

/**
 * A loose index scan: it jumps from signer to signer, so 100,000 waiting txs of one signer cost one probe, and idle signers cost nothing. A
 * subquery reads the leases: a join that was planned for an empty table would compare each signer with each lease.
 * A command may wait although its tx has ended: the owner died in between, and its replacement would wait for ever.
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
        FROM live l WHERE l.signer IS NOT NULL)
    SELECT work.signer, bool_or(work.pending) AS pending,
           coalesce((SELECT CASE WHEN l.expires_at > clock_timestamp() THEN CASE WHEN l.owner_node = $2 THEN 'free' ELSE 'held' END
                                 WHEN l.expires_at = '-infinity' THEN 'free' ELSE 'lapsed' END
                       FROM signer_lease l WHERE l.chain_id = $1 AND l.signer = work.signer), 'free') AS lease
      FROM (SELECT p.signer, (
                     SELECT true FROM managed_tx t
                      WHERE t.chain_id = $1 AND t.signer = p.signer AND t.state = 'PENDING' AND ${READY_SINCE} <= statement_timestamp() AND NOT EXISTS (SELECT FROM signer g WHERE g.chain_id = $1 AND g.address = p.signer AND g.paused_at IS NOT NULL)
                      ORDER BY t.chain_id, t.signer, ${READY_SINCE} LIMIT 1) IS NOT NULL AS pending
              FROM pending p
            UNION ALL SELECT signer, false FROM live
            UNION ALL SELECT authority, false FROM tx_authorization WHERE chain_id = $1
            UNION ALL SELECT signer, true FROM signer_nonce_allocation WHERE chain_id = $1 AND status = 'HELD' AND tx_id IS NULL
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
               WHERE t.chain_id = $1 AND t.signer = l.signer AND t.state = 'PENDING' AND ${READY_SINCE} > '-infinity' AND ${READY_SINCE} <= statement_timestamp() AND NOT ${IS_PAUSED('l')}
               ORDER BY t.chain_id, t.signer, ${READY_SINCE} LIMIT 1) IS NOT NULL AS pending,
             CASE WHEN l.expires_at > clock_timestamp() THEN CASE WHEN l.owner_node = $2 THEN 'free' ELSE 'held' END
                  WHEN l.expires_at = '-infinity' THEN 'free' ELSE 'lapsed' END AS lease
        FROM signer_lease l WHERE l.chain_id = $1 AND NOT l.idle) AS work
     WHERE pending OR lease <> 'lapsed' ORDER BY signer`,
};

/**
 * Reads one page along managed_tx_live, from the end of the previous page. The signers are a filter, concatenated so that no index fits
 * them: all pages together then read the txs in flight of the chain once.
 */
export const MARK_RECEIPTS_DUE = {
  name: 'tx_ask_receipts_now',
  text: `
    WITH page AS MATERIALIZED (
      SELECT t.tx_id, t.signer, t.nonce FROM managed_tx t
       WHERE t.chain_id = $1 AND t.state = 'IN_MEMPOOL' AND (t.signer, t.nonce) > ($3::text, $4::bigint) AND (t.signer || '') = ANY($2::text[])
       ORDER BY t.chain_id, t.signer, t.nonce LIMIT $5),
    asked AS (UPDATE managed_tx t SET next_receipt_check_at = clock_timestamp() FROM page p WHERE t.tx_id = p.tx_id AND t.state = 'IN_MEMPOOL')
    SELECT signer, nonce FROM page ORDER BY signer, nonce OFFSET $5 - 1`,
};

/**
 * Inserts fills, which Lockstep makes itself and which hold their slots from the start. A fill also gets the attempts without a tx that the
 * previous version of Lockstep sent for its slot.
 */
export const INSERT_FILLS = {
  name: 'tx_insert_fills',
  text: `
    WITH fill AS (
      SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::text[], $9::jsonb[], $10::int[], $11::bigint[], $12::bigint[], $13::bigint[])
             AS f (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, nonce, gas_limit, token)),
    owned AS (
      UPDATE tx_attempt a SET tx_id = f.tx_id, fencing_token = f.token FROM fill f
       WHERE a.chain_id = f.chain_id AND a.signer = f.signer AND a.nonce = f.nonce AND a.tx_id IS NULL)
    INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state, kind, nonce, gas_limit, fencing_token, version)
    SELECT tx_id, chain_id, signer, request_id, request_hash, to_address, value, decode(substr(data, 3), 'hex'), options, priority, 'ALLOCATED', 'fill', nonce, gas_limit, token, 1 FROM fill
     ORDER BY chain_id, signer, nonce`,
};

/**
 * A timer is passed as milliseconds from now, null to clear it, or -1 to keep it. An outdated copy has another version, so its row is not
 * updated, and the caller notices it by the row count.
 */
export const SAVE = {
  name: 'tx_save',
  text: `
    UPDATE managed_tx t
       SET state = s.state, sub_state = s.sub_state, nonce = s.nonce, gas_limit = s.gas_limit, tx_hash = s.tx_hash,
           receipt = s.receipt, block_number = s.block_number, block_hash = s.block_hash, failure_reason = s.failure_reason, closing = s.closing, replaced_by = s.replaced_by, tries = s.tries, last_error = s.last_error,
           next_resubmit_at = CASE WHEN s.resubmit_ms = -1 THEN t.next_resubmit_at ELSE clock_timestamp() + s.resubmit_ms * interval '1 ms' END,
           next_receipt_check_at = CASE WHEN s.receipt_ms = -1 THEN t.next_receipt_check_at ELSE clock_timestamp() + s.receipt_ms * interval '1 ms' END,
           last_submit_at = CASE WHEN s.submitted THEN clock_timestamp() ELSE t.last_submit_at END,
           confirmed_at = CASE WHEN s.state = 'CONFIRMED' THEN coalesce(t.confirmed_at, clock_timestamp()) ELSE NULL END,
           fencing_token = s.token, version = s.version + 1, updated_at = clock_timestamp()
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::jsonb[], $8::bigint[], $9::text[],
                  $10::text[], $11::float8[], $12::float8[], $13::boolean[], $14::bigint[], $15::int[], $16::int[], $17::text[], $18::jsonb[], $19::uuid[])
           AS s (tx_id, state, sub_state, nonce, gas_limit, tx_hash, receipt, block_number, block_hash,
                 failure_reason, resubmit_ms, receipt_ms, submitted, token, version, tries, last_error, closing, replaced_by)
     WHERE t.tx_id = s.tx_id AND t.version = s.version`,
};
