import { isFinal, TX_STATES } from '../../ledger/index.js';

const FINAL_STATES = `(${TX_STATES.filter(isFinal)
  .map((state) => `'${state}'`)
  .join(', ')})`;

/** A node that does not get the lock ends its run: another node deletes rows of this kind. */
export const ONE_AT_A_TIME = {
  name: 'retention_lock',
  text: 'SELECT pg_try_advisory_xact_lock(7250318, $1) AS taken',
};

const OLDER_THAN = (column: string, milliseconds: string): string =>
  `${column} < clock_timestamp() - ${milliseconds}::float8 * interval '1 ms'`;

/**
 * Reads a page of the log from a place, along the primary key, and deletes what is old, was read by each stored reader, and is not about an
 * unfinished tx. It says how many rows were old and read, and where the last of them is: the next page begins there.
 */
export const DELETE_EVENTS = {
  name: 'retention_delete_events',
  text: `
    WITH page AS MATERIALIZED (
      SELECT p.xid, p.seq, p.tx_id, p.created_at FROM tx_event p
       WHERE (p.xid, p.seq) > ($1::text::xid8, $2::bigint) ORDER BY p.xid, p.seq LIMIT $3),
    old AS MATERIALIZED (
      SELECT p.xid, p.seq, p.tx_id FROM page p
       WHERE ${OLDER_THAN('p.created_at', '$4')}
         AND NOT EXISTS (SELECT FROM event_reader r WHERE (r.xid, r.seq) < (p.xid, p.seq))),
    deleted AS (
      DELETE FROM tx_event e USING old o
       WHERE e.xid = o.xid AND e.seq = o.seq
         AND NOT EXISTS (SELECT FROM managed_tx t WHERE t.tx_id = o.tx_id AND t.state NOT IN ${FINAL_STATES})
      RETURNING 1)
    SELECT (SELECT count(*) FROM deleted)::int AS deleted, (SELECT count(*) FROM old)::int AS old,
           (SELECT o.xid FROM old o ORDER BY o.xid DESC, o.seq DESC LIMIT 1)::text AS xid,
           (SELECT o.seq FROM old o ORDER BY o.xid DESC, o.seq DESC LIMIT 1)::text AS seq`,
};

/** From a place on: entries of deleted rows are in front of the oldest event until the next vacuum. */
export const OLDEST_EVENT = {
  name: 'retention_oldest_event',
  text: `
    SELECT e.xid::text AS xid, e.seq::text AS seq, e.created_at FROM tx_event e
     WHERE (e.xid, e.seq) >= ($1::text::xid8, $2::bigint) ORDER BY e.xid, e.seq LIMIT 1`,
};

/** The lowest id (UUID version 7) that a tx of this moment can have. */
const ID_BEFORE = (milliseconds: string): string =>
  `(lpad(to_hex(floor(greatest(0, extract(epoch FROM clock_timestamp()) * 1000 - ${milliseconds}::float8))::bigint), 12, '0') || repeat('0', 20))::uuid`;

/** Nobody may still change tx `t`, or be about to. The status of a command is concatenated so that only the index by tx fits. */
const IS_OVER = `
         t.state IN ${FINAL_STATES} AND ${OLDER_THAN('t.updated_at', '$2')}
         AND NOT EXISTS (SELECT FROM managed_tx o WHERE o.tx_id = ANY(ARRAY[t.replaces, t.replaced_by]) AND o.state NOT IN ${FINAL_STATES})
         AND NOT EXISTS (SELECT FROM tx_command c WHERE c.tx_id = ANY(ARRAY[t.tx_id, t.replaces]) AND c.status || '' = 'QUEUED')
         AND NOT EXISTS (SELECT FROM tx_command c JOIN managed_tx r ON r.tx_id = c.replacement
                          WHERE c.tx_id = t.tx_id AND r.state NOT IN ${FINAL_STATES})
         AND NOT EXISTS (SELECT FROM tx_authorization g WHERE g.tx_id = t.tx_id)
         AND NOT EXISTS (SELECT FROM permit_nonce p WHERE p.tx_id = t.tx_id AND p.status IN ('WANTED', 'HELD', 'LOST'))
         AND NOT EXISTS (SELECT FROM signer_nonce_allocation s WHERE s.tx_id = t.tx_id AND s.status = 'HELD')`;

/**
 * The search for final txs that a deep reorg undid reads the slots of each signer from its newest mined tx down to the first one that is still
 * on the chain (NEWEST_FINAL). That newest one stays, so the search has an end.
 */
const IS_BELOW_NEWEST = `
         (t.block_hash IS NULL OR EXISTS (
           SELECT FROM signer_nonce_allocation s JOIN managed_tx n ON n.tx_id = s.tx_id
            WHERE s.chain_id = t.chain_id AND s.signer = t.signer AND s.nonce > t.nonce AND s.status = 'CONSUMED'
              AND n.block_hash IS NOT NULL AND n.state IN ${FINAL_STATES}))`;

const IS_READ = `
         NOT EXISTS (SELECT FROM tx_event e JOIN event_reader r ON (r.xid, r.seq) < (e.xid, e.seq) WHERE e.tx_id = t.tx_id)`;

/**
 * Reads a page of txs from a place, along the primary key, and deletes those that nobody needs, with everything that belongs to them. The slot
 * of the winner goes, too: it would make each search along the slots of its signer longer, for ever. A row that is locked is skipped; a commit
 * that comes later finds no row, and is refused as out of date.
 */
export const DELETE_TXS = {
  name: 'retention_delete_txs',
  text: `
    WITH page AS MATERIALIZED (
      SELECT p.tx_id FROM managed_tx p
       WHERE p.tx_id > $1 AND p.tx_id < (SELECT ${ID_BEFORE('$2')}) ORDER BY p.tx_id LIMIT $3),
    old AS MATERIALIZED (
      SELECT t.tx_id, t.chain_id, t.signer, t.nonce, t.replaces FROM page p JOIN managed_tx t ON t.tx_id = p.tx_id
       WHERE ${IS_OVER}
         AND ${IS_BELOW_NEWEST}
         AND ${IS_READ}
         FOR UPDATE OF t SKIP LOCKED),
    events AS (DELETE FROM tx_event e USING old o WHERE e.tx_id = o.tx_id RETURNING 1),
    attempts AS (DELETE FROM tx_attempt a USING old o WHERE a.tx_id = o.tx_id RETURNING 1),
    blobs AS (DELETE FROM tx_blob b USING old o WHERE b.tx_id = o.tx_id RETURNING 1),
    permits AS (DELETE FROM permit_nonce p USING old o WHERE p.tx_id = o.tx_id RETURNING 1),
    commands AS (
      DELETE FROM tx_command c USING old o
       WHERE c.tx_id = ANY(ARRAY[o.tx_id, o.replaces]) AND (c.tx_id = o.tx_id OR c.replacement = o.tx_id)
      RETURNING 1),
    slots AS (
      DELETE FROM signer_nonce_allocation s USING old o
       WHERE s.chain_id = o.chain_id AND s.signer = o.signer AND s.nonce = o.nonce AND s.status = 'CONSUMED' AND s.tx_id = o.tx_id
      RETURNING 1),
    txs AS (DELETE FROM managed_tx t USING old o WHERE t.tx_id = o.tx_id RETURNING 1)
    SELECT (SELECT count(*) FROM txs)::int AS managed_tx, (SELECT count(*) FROM events)::int AS tx_event,
           (SELECT count(*) FROM attempts)::int AS tx_attempt, (SELECT count(*) FROM blobs)::int AS tx_blob, (SELECT count(*) FROM permits)::int AS permit_nonce,
           (SELECT count(*) FROM commands)::int AS tx_command, (SELECT count(*) FROM slots)::int AS signer_nonce_allocation,
           (SELECT count(*) FROM page)::int AS looked_at, (SELECT p.tx_id FROM page p ORDER BY p.tx_id DESC LIMIT 1) AS last`,
};

/** Reads a page of the audit log from a place, along the primary key, and deletes what is old. */
export const DELETE_ENTRIES = {
  name: 'retention_delete_entries',
  text: `
    WITH page AS MATERIALIZED (
      SELECT p.seq, p.at FROM audit_entry p WHERE p.seq > $1 ORDER BY p.seq LIMIT $2),
    deleted AS (
      DELETE FROM audit_entry e USING page p WHERE e.seq = p.seq AND ${OLDER_THAN('p.at', '$3')} RETURNING e.seq)
    SELECT count(*)::int AS deleted, max(seq) AS last FROM deleted`,
};
