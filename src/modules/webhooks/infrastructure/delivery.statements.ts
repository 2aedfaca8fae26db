import { HOST, SIGNING } from './endpoint.statements.js';

/**
 * Conditions on deliveries of the same tx and endpoint. The endpoint is compared by ranges: then the index of what waits of a tx
 * (webhook_delivery_order) is read from one row to another, and those that begin with the endpoint do not fit, which would read its whole backlog.
 */
export const SAME_ENDPOINT = (a: string, b: string): string =>
  `${a}.endpoint_id >= ${b}.endpoint_id AND ${a}.endpoint_id <= ${b}.endpoint_id`;

/** That `a` comes before `b`. */
export const EARLIER = (a: string, b: string): string =>
  `${a}.tx_id = ${b}.tx_id AND ${a}.endpoint_id >= ${b}.endpoint_id AND ${place(a)} < ${place(b)}`;

/** That `a` comes after `b`. */
export const LATER = (a: string, b: string): string =>
  `${a}.tx_id = ${b}.tx_id AND ${a}.endpoint_id <= ${b}.endpoint_id AND ${place(a)} > ${place(b)}`;

const place = (a: string): string => `(${a}.endpoint_id, ${a}.xid, ${a}.seq, ${a}.part)`;

/**
 * Claims what is due of each of some endpoints, up to what it may have. Rows that another node locks are passed over. A delivery is not taken while an
 * earlier one of its tx waits; OFFSET 0 keeps this a look into the index for each row, whatever the planner thinks of the number of rows.
 * `clock_timestamp()` could not bound the search in the index: all retries of an endpoint that is down would be read.
 */
export const CLAIM = {
  name: 'webhook_claim',
  text: `
    WITH share AS MATERIALIZED (
      SELECT e.endpoint_id, t.floor, CASE WHEN e.failing_since IS NULL THEN t.most ELSE t.most_if_failing END AS most
        FROM unnest($3::uuid[], $4::timestamptz[], $5::int[], $6::int[]) WITH ORDINALITY AS t(endpoint_id, floor, most, most_if_failing, turn)
        JOIN webhook_endpoint e ON e.endpoint_id = t.endpoint_id
       WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL ORDER BY t.turn),
    due AS (
      SELECT d.place FROM share s CROSS JOIN LATERAL (
        SELECT w.ctid AS place FROM webhook_delivery w
         WHERE w.endpoint_id = s.endpoint_id AND w.status = 'waiting' AND w.due_at >= s.floor AND w.due_at <= statement_timestamp()
           AND (w.claimed_until IS NULL OR w.claimed_until < clock_timestamp())
           AND NOT EXISTS (SELECT FROM webhook_delivery b WHERE b.status = 'waiting' AND ${EARLIER('b', 'w')} OFFSET 0)
         ORDER BY w.due_at LIMIT s.most FOR UPDATE SKIP LOCKED) d
       LIMIT $7)
    UPDATE webhook_delivery d
       SET claimed_by = $1, claimed_until = clock_timestamp() + $2::float8 * interval '1 ms'
      FROM webhook_endpoint e
     WHERE d.ctid = ANY(ARRAY(SELECT place FROM due)) AND d.status || '' = 'waiting' AND e.endpoint_id = d.endpoint_id
    RETURNING d.endpoint_id, d.xid::text AS xid, d.seq, d.part, d.body, d.tries, e.url, ${HOST} AS host, ${SIGNING} AS secrets,
              e.failing_since IS NOT NULL AS is_failing`,
};

/**
 * In one statement: the results, and the time of the next try for what waits behind a failed one. The status is concatenated so that only the
 * primary key fits: the other indexes grow with the backlog. A receiver that the endpoint has left while it was asked says nothing about the
 * next one: neither its 410 nor its wait counts.
 */
export const RECORD = {
  name: 'webhook_record',
  text: `
    WITH result AS (
      SELECT r.*, CASE WHEN r.outcome = 'gone' AND e.url <> r.url THEN 'failed' ELSE r.outcome END AS counts_as,
             CASE WHEN e.url <> r.url THEN 0 ELSE r.wait_ms END AS waits_ms
        FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::smallint[], $6::text[], $7::float8[], $8::int[], $9::text[], $10::text[], $11::text[])
          AS r(endpoint_id, xid, seq, part, outcome, wait_ms, answer_status, answer_body, error, url)
        JOIN webhook_endpoint e ON e.endpoint_id = r.endpoint_id),
    recorded AS (
      UPDATE webhook_delivery d
         SET status = CASE WHEN r.counts_as = 'delivered' THEN 'delivered'
                           WHEN r.counts_as = 'gone' OR d.give_up_at <= clock_timestamp() THEN 'dead' ELSE 'waiting' END,
             ended_at = CASE WHEN r.counts_as <> 'failed' OR d.give_up_at <= clock_timestamp() THEN clock_timestamp() END,
             due_at = least(clock_timestamp() + r.waits_ms * interval '1 ms', greatest(d.give_up_at, clock_timestamp())),
             tries = d.tries + 1, tried_at = clock_timestamp(), claimed_by = NULL, claimed_until = NULL,
             answer_status = r.answer_status, answer_body = r.answer_body, error = r.error
        FROM result r
       WHERE d.endpoint_id = r.endpoint_id AND d.xid = r.xid::xid8 AND d.seq = r.seq AND d.part = r.part
         AND d.status || '' = 'waiting' AND d.claimed_by = $1
      RETURNING d.endpoint_id, d.tx_id, d.xid, d.seq, d.part, d.status, d.due_at),
    behind AS (
      UPDATE webhook_delivery w SET due_at = f.due_at
        FROM recorded f
       WHERE f.status = 'waiting' AND w.status = 'waiting' AND ${LATER('w', 'f')} AND w.due_at < f.due_at)
    SELECT endpoint_id, xid::text AS xid, seq, part, status FROM recorded`,
};

/** What a node is sending is left to that node. */
export const BURY = {
  name: 'webhook_bury',
  text: `
    UPDATE webhook_delivery d
       SET status = 'dead', ended_at = clock_timestamp(), error = 'disabled: ' || e.disabled_reason, claimed_by = NULL, claimed_until = NULL
      FROM webhook_endpoint e
     WHERE e.endpoint_id = d.endpoint_id AND d.status = 'waiting' AND d.ctid = ANY(ARRAY(
       SELECT w.place FROM webhook_endpoint o CROSS JOIN LATERAL (
         SELECT n.ctid AS place FROM webhook_delivery n
          WHERE n.endpoint_id = o.endpoint_id AND n.status = 'waiting' AND (n.claimed_until IS NULL OR n.claimed_until < clock_timestamp())
          LIMIT $1 FOR UPDATE SKIP LOCKED) w
        WHERE o.disabled_at IS NOT NULL AND o.deleted_at IS NULL LIMIT $1))`,
};

export const PRUNE_LOCK = {
  name: 'webhook_prune_lock',
  text: 'SELECT pg_try_advisory_xact_lock(7250318) AS taken',
};

export const PRUNE = {
  name: 'webhook_prune',
  text: `
    DELETE FROM webhook_delivery d WHERE d.ctid = ANY(ARRAY(
      (SELECT o.ctid FROM webhook_delivery o
        WHERE o.status = 'delivered' AND o.ended_at < clock_timestamp() - $1::float8 * interval '1 ms' LIMIT $3)
      UNION ALL
      (SELECT o.ctid FROM webhook_delivery o
        WHERE o.status = 'dead' AND o.ended_at < clock_timestamp() - $2::float8 * interval '1 ms' LIMIT $3)
      UNION ALL
      (SELECT w.place FROM webhook_endpoint e CROSS JOIN LATERAL (
         SELECT o.ctid AS place FROM webhook_delivery o WHERE o.endpoint_id = e.endpoint_id LIMIT $3) w
        WHERE e.deleted_at IS NOT NULL LIMIT $3)))`,
};

/** Its row stays for an hour: a fan-out that has read it before may insert deliveries later. */
export const FORGET_ENDPOINTS = {
  name: 'webhook_forget_endpoints',
  text: `
    DELETE FROM webhook_endpoint e WHERE e.deleted_at < clock_timestamp() - interval '1 hour'
       AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.endpoint_id OFFSET 0)`,
};

/** Counts 100,000 of all endpoints together, or 1,000 of each. */
export const BACKLOG = {
  name: 'webhook_backlog',
  text: `
    WITH most AS MATERIALIZED (
      SELECT greatest(1000, 100000 / greatest(1, count(*))) AS of_one FROM webhook_endpoint o WHERE o.deleted_at IS NULL)
    SELECT e.endpoint_id, e.failing_since IS NOT NULL AS is_failing, w.waiting, w.age
      FROM webhook_endpoint e CROSS JOIN LATERAL (
        SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM clock_timestamp() - min(d.event_at)), 0)::float8 AS age
          FROM (SELECT o.event_at FROM webhook_delivery o WHERE o.endpoint_id = e.endpoint_id AND o.status = 'waiting' LIMIT (SELECT of_one FROM most)) d) w
     WHERE e.deleted_at IS NULL`,
};
