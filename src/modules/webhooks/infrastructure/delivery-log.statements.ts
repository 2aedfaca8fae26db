import type { Statement } from '../../../platform/database/pg-tx.js';
import type { DeliveryStatus } from '../domain/delivery.js';
import { LATER } from './delivery.statements.js';

const COLUMNS = `d.xid::text AS xid, d.seq, d.part, d.type, d.tx_id, d.status, d.tries, d.due_at, d.answer_status, d.answer_body, d.error, d.tried_at,
  d.event_at`;

/** The status is a literal, so that the plan can use the index of that status. */
export const listOf = (status: DeliveryStatus | null): Statement => ({
  name: `webhook_list_deliveries_${status ?? 'all'}`,
  text: `
    SELECT ${COLUMNS} FROM webhook_delivery d
     WHERE d.endpoint_id = $1 ${status === null ? '' : `AND d.status = '${status}'`}
       AND ($2::text IS NULL OR (d.xid, d.seq, d.part) < ($2::text::xid8, $3::bigint, $4::smallint))
     ORDER BY d.xid DESC, d.seq DESC, d.part DESC LIMIT $5`,
});

export const FIND_DELIVERY = {
  name: 'webhook_find_delivery',
  text: `
    SELECT ${COLUMNS}, d.body FROM webhook_delivery d
     WHERE d.endpoint_id = $1 AND d.xid = $2::text::xid8 AND d.seq = $3 AND d.part = $4`,
};

/** What waits behind it was put off with it. */
export const REPLAY = {
  name: 'webhook_replay',
  text: `
    WITH again AS (
      UPDATE webhook_delivery d
         SET status = 'waiting', tries = 0, due_at = clock_timestamp(), give_up_at = clock_timestamp() + $5::float8 * interval '1 ms', ended_at = NULL
       WHERE d.endpoint_id = $1 AND d.xid = $2::text::xid8 AND d.seq = $3 AND d.part = $4
      RETURNING d.endpoint_id, d.tx_id, d.xid, d.seq, d.part, d.due_at),
    behind AS (
      UPDATE webhook_delivery w SET due_at = a.due_at
        FROM again a
       WHERE w.status = 'waiting' AND ${LATER('w', 'a')} AND w.due_at > a.due_at)
    SELECT FROM again`,
};

export const REPLAY_DEAD = {
  name: 'webhook_replay_dead',
  text: `
    UPDATE webhook_delivery d
       SET status = 'waiting', tries = 0, due_at = clock_timestamp(), give_up_at = clock_timestamp() + $3::float8 * interval '1 ms', ended_at = NULL
     WHERE d.status = 'dead' AND d.ctid = ANY(ARRAY(
       SELECT o.ctid FROM webhook_delivery o WHERE o.endpoint_id = $1 AND o.status = 'dead' ORDER BY o.xid, o.seq, o.part LIMIT $2 FOR UPDATE SKIP LOCKED))`,
};

/** The body of a delivery that is there stays as it was. */
export const INSERT_OR_REPEAT = {
  name: 'webhook_insert_or_repeat',
  text: `
    WITH event AS (
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::smallint[], $4::uuid[], $5::text[], $6::text[], $7::timestamptz[])
        WITH ORDINALITY AS e(xid, seq, part, tx_id, type, body, event_at, place))
    INSERT INTO webhook_delivery AS d (endpoint_id, xid, seq, part, tx_id, type, body, event_at, due_at, give_up_at)
    SELECT m.endpoint_id, e.xid::xid8, e.seq, e.part, e.tx_id, e.type, e.body, e.event_at, clock_timestamp(),
           clock_timestamp() + $10::float8 * interval '1 ms'
      FROM unnest($8::int[], $9::uuid[]) AS m(place, endpoint_id) JOIN event e ON e.place = m.place ORDER BY m.place
    ON CONFLICT (endpoint_id, xid, seq, part) DO UPDATE
       SET status = 'waiting', tries = 0, due_at = excluded.due_at, give_up_at = excluded.give_up_at, ended_at = NULL
     WHERE d.status <> 'waiting'`,
};
