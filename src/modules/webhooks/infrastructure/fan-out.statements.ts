import { SAME_ENDPOINT } from './delivery.statements.js';

/**
 * Whether event `e` was committed before the endpoint of match `m` was created. The fan-out may read it long after: any older database
 * transaction of the server holds readers back. `xmin` is the transaction that wrote the row, of which `xid` may be a younger one (NEXT_XID):
 * what was in flight at the creation is not from before. OFFSET 0 keeps this two looks into primary keys.
 */
const IS_FROM_BEFORE = `EXISTS (
         SELECT FROM webhook_endpoint c JOIN tx_event t ON t.xid = e.xid::xid8 AND t.seq = e.seq
          WHERE c.endpoint_id = m.endpoint_id AND e.seq <= c.created_after AND pg_visible_in_snapshot(t.xid, c.created_in)
            AND t.xmin <> ALL (ARRAY(SELECT x.xid::xid FROM pg_snapshot_xip(c.created_in) AS x(xid))) OFFSET 0)`;

/**
 * The place. Looks for endpoints and moves it in one snapshot: an event that is committed after the first endpoint is not passed over.
 */
export const PLACE = {
  name: 'webhook_place',
  text: `
    WITH heard AS MATERIALIZED (
      SELECT EXISTS (SELECT FROM webhook_endpoint e WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL) AS heard),
    moved AS (
      UPDATE event_reader r SET xid = l.xid, seq = l.seq, updated_at = clock_timestamp()
        FROM (SELECT t.xid, t.seq FROM tx_event t WHERE t.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY t.xid DESC, t.seq DESC LIMIT 1) l
       WHERE r.name = 'webhooks' AND (l.xid, l.seq) > (r.xid, r.seq) AND NOT (SELECT heard FROM heard))
    SELECT r.xid::text AS xid, r.seq FROM event_reader r WHERE r.name = 'webhooks' AND (SELECT heard FROM heard)`,
};

export const LOCK_PLACE = {
  name: 'webhook_lock_place',
  text: `SELECT FROM event_reader r WHERE r.name = 'webhooks' AND r.xid = $1::text::xid8 AND r.seq = $2 FOR UPDATE SKIP LOCKED`,
};

export const MOVE_PLACE = {
  name: 'webhook_move_place',
  text: `UPDATE event_reader SET xid = $1::text::xid8, seq = $2, updated_at = clock_timestamp() WHERE name = 'webhooks'`,
};

/** An account that is disabled gets nothing. Its endpoints stay as they are, for when it is enabled. */
export const SUBSCRIBERS = {
  name: 'webhook_subscribers',
  text: `
    SELECT e.endpoint_id, e.updated_at::text AS version FROM webhook_endpoint e
     WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL AND e.endpoint_id > $1
       AND NOT EXISTS (SELECT FROM account a WHERE a.account_id = e.account_id AND a.disabled_at IS NOT NULL)
     ORDER BY e.endpoint_id LIMIT $2`,
};

export const FILTERS = {
  name: 'webhook_filters',
  text: `
    SELECT e.endpoint_id, e.updated_at::text AS version, e.types, e.chain_ids, e.signers, e.callback_only, e.account_id FROM webhook_endpoint e
     WHERE e.endpoint_id = ANY($1::uuid[]) AND e.disabled_at IS NULL AND e.deleted_at IS NULL`,
};

/** A delivery is not due before one of the same tx that waits: the index of what is due would be full of what cannot be sent yet. */
export const INSERT_DELIVERIES = {
  name: 'webhook_insert_deliveries',
  text: `
    WITH event AS (
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::smallint[], $4::uuid[], $5::text[], $6::text[], $7::timestamptz[])
        WITH ORDINALITY AS e(xid, seq, part, tx_id, type, body, event_at, place))
    INSERT INTO webhook_delivery (endpoint_id, xid, seq, part, tx_id, type, body, event_at, due_at, give_up_at)
    SELECT m.endpoint_id, e.xid::xid8, e.seq, e.part, e.tx_id, e.type, e.body, e.event_at,
           greatest(clock_timestamp(), (SELECT max(w.due_at) FROM webhook_delivery w WHERE w.tx_id = e.tx_id AND w.status = 'waiting' AND ${SAME_ENDPOINT('w', 'm')})),
           e.event_at + $10::float8 * interval '1 ms'
      FROM unnest($8::int[], $9::uuid[]) AS m(place, endpoint_id) JOIN event e ON e.place = m.place
     WHERE NOT ${IS_FROM_BEFORE} ORDER BY m.place
    ON CONFLICT (endpoint_id, xid, seq, part) DO NOTHING`,
};
