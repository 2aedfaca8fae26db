import { faultsIn, int } from '../fault.js';

const IN = 'modules/webhooks/infrastructure';

const ENDPOINTS = faultsIn(`${IN}/endpoint.statements.ts`, int('webhook-endpoints'), [
  {
    id: 'webhook-add-place-at-the-beginning',
    text: `SELECT 'webhooks', coalesce(l.xid, '0'::xid8), coalesce(l.seq, 0)`,
    becomes: `SELECT 'webhooks', '0'::xid8, 0`,
    why: 'a new endpoint gets everything that ever happened',
    caughtBy: int('webhook-fan-out'),
  },
  {
    id: 'webhook-find-deleted',
    text: 'FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND e.deleted_at IS NULL`,\n};\n\nexport const LOCK',
    becomes: 'FROM webhook_endpoint e WHERE e.endpoint_id = $1`,\n};\n\nexport const LOCK',
    why: 'a deleted endpoint is shown',
  },
  {
    id: 'webhook-lock-nothing',
    text: 'AND e.deleted_at IS NULL FOR UPDATE`',
    becomes: 'AND e.deleted_at IS NULL`',
    why: 'of two changes at the same time one is lost',
  },
  {
    id: 'webhook-list-oldest-first',
    text: 'ORDER BY e.endpoint_id DESC LIMIT $2',
    becomes: 'ORDER BY e.endpoint_id LIMIT $2',
    why: 'pages repeat endpoints',
  },
  {
    id: 'webhook-change-disables-again',
    text: 'coalesce(e.disabled_reason, $9)',
    becomes: 'coalesce($9, e.disabled_reason)',
    why: 'a change of the description hides why the endpoint was disabled',
  },
  {
    id: 'webhook-change-forgets-failures',
    text: 'CASE WHEN $8 AND e.disabled_at IS NOT NULL THEN NULL ELSE e.failing_since END',
    becomes: 'CASE WHEN $8 THEN NULL ELSE e.failing_since END',
    why: 'an endpoint that fails looks well after each change',
  },
  {
    id: 'webhook-rotate-at-once',
    text: 'previous_secret = e.secret,',
    becomes: 'previous_secret = $2,',
    why: 'receivers that have the old secret refuse everything',
  },
  {
    id: 'webhook-old-secret-for-ever',
    text: 'CASE WHEN e.previous_secret_until > clock_timestamp() THEN e.previous_secret END',
    becomes: 'e.previous_secret',
    why: 'a secret that leaked goes on signing',
  },
  {
    id: 'webhook-remove-twice',
    text: 'SET deleted_at = clock_timestamp() WHERE endpoint_id = $1 AND deleted_at IS NULL',
    becomes: 'SET deleted_at = clock_timestamp() WHERE endpoint_id = $1',
    why: 'the second deletion says that it deleted something',
  },
  {
    id: 'webhook-disable-again',
    text: 'WHERE endpoint_id = $1 AND disabled_at IS NULL`',
    becomes: 'WHERE endpoint_id = $1`',
    why: 'the first reason is lost',
  },
  {
    id: 'webhook-failing-since-now',
    text: 'WHERE endpoint_id = $1 AND (failing_since IS NULL) = $2::boolean',
    becomes: 'WHERE endpoint_id = $1',
    why: 'failingSince is the time of the last failure',
  },
]);

const FAN_OUT = faultsIn(`${IN}/fan-out.statements.ts`, int('webhook-fan-out'), [
  {
    id: 'webhook-skip-heard',
    text: ' AND NOT (SELECT heard FROM heard))',
    becomes: ')',
    why: 'events are passed over although somebody subscribes',
  },
  {
    id: 'webhook-skip-backwards',
    text: 'AND (l.xid, l.seq) > (r.xid, r.seq) AND NOT',
    becomes: 'AND (l.xid, l.seq) <> (r.xid, r.seq) AND NOT',
    why: 'a place that another node has moved on goes back, and events come twice',
  },
  {
    id: 'webhook-place-waited-for',
    text: `WHERE r.name = 'webhooks' FOR UPDATE SKIP LOCKED`,
    becomes: `WHERE r.name = 'webhooks'`,
    why: 'two nodes make the deliveries of one page',
  },
  {
    id: 'webhook-place-not-moved',
    text: 'UPDATE event_reader SET xid = $1::text::xid8, seq = $2, updated_at',
    becomes: 'UPDATE event_reader SET xid = $1::text::xid8, seq = $2 - 1, updated_at',
    why: 'the last event of a page is read again',
    caughtBy: int('webhook-fan-out'),
  },
  {
    id: 'webhook-subscribers-disabled',
    text: `e.callback_only FROM webhook_endpoint e
     WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL`,
    becomes: `e.callback_only FROM webhook_endpoint e
     WHERE e.deleted_at IS NULL`,
    why: 'a disabled endpoint gets deliveries that nobody sends',
  },
  {
    id: 'webhook-insert-due-now',
    text: `w.tx_id = e.tx_id AND w.status = 'waiting' AND`,
    becomes: `w.tx_id = e.tx_id AND w.status = 'dead' AND`,
    why: 'what waits for a failed one fills the index of what is due',
  },
  {
    id: 'webhook-insert-due-long-ago',
    text: 'greatest(clock_timestamp(), (SELECT max(w.due_at)',
    becomes: 'coalesce((SELECT max(w.due_at)',
    why: 'what has waited for long is passed over: claims begin at the lowest due time that they have seen',
  },
]);

const FLOORS = faultsIn(`${IN}/due-floors.ts`, int('webhook-deliveries'), [
  {
    id: 'webhook-floors-too-high',
    text: "least(w.due_at, clock_timestamp() - interval '5 seconds')::text",
    becomes: "(w.due_at + interval '1 hour')::text",
    why: 'what is due is never sent',
  },
]);

const DELIVERIES = faultsIn(`${IN}/delivery.statements.ts`, int('webhook-deliveries'), [
  {
    id: 'webhook-claim-out-of-order',
    text: 'AND (b.xid, b.seq, b.part) < (w.xid, w.seq, w.part) OFFSET 0)',
    becomes: 'AND (b.xid, b.seq, b.part) < (w.xid, w.seq, w.part) AND false OFFSET 0)',
    why: 'the events of a tx come in any order',
  },
  {
    id: 'webhook-claim-of-others',
    text: `AND w.due_at >= r.floor AND w.due_at <= statement_timestamp()
           AND (w.claimed_until IS NULL OR w.claimed_until < clock_timestamp())`,
    becomes: 'AND w.due_at >= r.floor AND w.due_at <= statement_timestamp()',
    why: 'two nodes send the same',
  },
  {
    id: 'webhook-claim-more-than-places',
    text: 'ELSE $4::int END - t.taken) AS free',
    becomes: 'ELSE $4::int END - 0 * t.taken) AS free',
    why: 'an endpoint that asked to wait gets more',
  },
  {
    id: 'webhook-claim-for-the-disabled',
    text: 'WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL),\n    due AS',
    becomes: 'WHERE e.deleted_at IS NULL),\n    due AS',
    why: 'a disabled endpoint gets what waits for it',
  },
  {
    id: 'webhook-claim-failing-all-places',
    text: 'THEN $3::int ELSE $4::int END',
    becomes: 'THEN $3::int ELSE $3::int + 0 * $4::int END',
    why: 'an endpoint that is down gets all its retries at once',
  },
  {
    id: 'webhook-record-of-others',
    text: ' AND d.claimed_by = $1\n',
    becomes: ' AND $1::text IS NOT NULL\n',
    why: 'a node whose claim has ended writes over the try of another',
  },
  {
    id: 'webhook-record-never-dead',
    text: `WHEN r.outcome = 'gone' OR d.give_up_at <= clock_timestamp() THEN 'dead' ELSE 'waiting' END`,
    becomes: `WHEN r.outcome = 'gone' THEN 'dead' ELSE 'waiting' END`,
    why: 'retries never end',
  },
  {
    id: 'webhook-record-behind-stays-due',
    text: `WHERE f.status = 'waiting' AND w.tx_id = f.tx_id`,
    becomes: `WHERE f.status = 'dead' AND w.tx_id = f.tx_id`,
    why: 'the index of what is due fills with what cannot be sent yet',
  },
  {
    id: 'webhook-bury-what-is-enabled',
    text: 'WHERE o.disabled_at IS NOT NULL AND o.deleted_at IS NULL LIMIT $1',
    becomes: 'WHERE o.deleted_at IS NULL LIMIT $1',
    why: 'everything that waits is given up',
  },
  {
    id: 'webhook-prune-on-all-nodes',
    text: `SELECT pg_try_advisory_xact_lock(7250318) AS taken`,
    becomes: `SELECT true AS taken`,
    why: 'all nodes delete at the same time',
  },
  {
    id: 'webhook-prune-dead-as-delivered',
    text: `WHERE o.status = 'dead' AND o.ended_at < clock_timestamp() - $2::float8`,
    becomes: `WHERE o.status = 'dead' AND o.ended_at < clock_timestamp() - least($1, $2)::float8`,
    why: 'dead deliveries are gone before anybody has looked',
  },
  {
    id: 'webhook-forget-all',
    text: `WHERE e.deleted_at < clock_timestamp() - interval '1 hour'`,
    becomes: `WHERE e.created_at < clock_timestamp() + interval '1 hour'`,
    why: 'endpoints vanish',
  },
  {
    id: 'webhook-backlog-of-all',
    text: `WHERE o.endpoint_id = e.endpoint_id AND o.status = 'waiting' LIMIT 100000`,
    becomes: `WHERE o.status = 'waiting' LIMIT 100000`,
    why: 'every endpoint seems to have the backlog of all',
  },
]);

const REPLAYS = faultsIn(`${IN}/delivery-log.statements.ts`, int('webhook-replay'), [
  {
    id: 'webhook-list-deliveries-from-the-place-on',
    text: '(d.xid, d.seq, d.part) < ($2::text::xid8, $3::bigint, $4::smallint)',
    becomes: '(d.xid, d.seq, d.part) <= ($2::text::xid8, $3::bigint, $4::smallint)',
    why: 'pages repeat deliveries',
  },
  {
    id: 'webhook-find-delivery-of-any-event',
    text: `WHERE d.endpoint_id = $1 AND d.xid = $2::text::xid8 AND d.seq = $3 AND d.part = $4\`,
};

/** What waits behind it`,
    becomes: `WHERE d.endpoint_id = $1 AND ($2, $3, $4) IS NOT NULL\`,
};

/** What waits behind it`,
    why: 'the body of another event is shown',
  },
  {
    id: 'webhook-replay-late',
    text: `AND w.due_at > a.due_at)`,
    becomes: `AND w.due_at < a.due_at)`,
    why: 'what waits behind it comes hours later',
  },
  {
    id: 'webhook-replay-dead-of-all',
    text: `WHERE o.endpoint_id = $1 AND o.status = 'dead' ORDER BY`,
    becomes: `WHERE o.endpoint_id = coalesce(o.endpoint_id, $1) AND o.status = 'dead' ORDER BY`,
    why: 'the dead deliveries of other endpoints are sent',
  },
  {
    id: 'webhook-repeat-what-waits',
    text: `WHERE d.status <> 'waiting'`,
    becomes: `WHERE d.status IS NOT NULL`,
    why: 'what is being retried begins from the start',
  },
]);

const TIMES = faultsIn('modules/events/infrastructure/pg-event-times.ts', int('webhook-replay'), [
  {
    id: 'event-ends-swapped',
    text: 'ORDER BY e.xid, e.seq LIMIT 1)::text AS first',
    becomes: 'ORDER BY e.xid DESC, e.seq LIMIT 1)::text AS first',
    why: 'a replay finds nothing',
  },
  {
    id: 'event-from-after',
    text: 'SELECT e.created_at < $2 AS is_before',
    becomes: 'SELECT e.created_at > $2 AS is_before',
    why: 'a replay begins anywhere',
  },
]);

const CALLBACKS = faultsIn('modules/transactions/infrastructure/pg-callback-endpoints.ts', int('webhook-endpoints'), [
  {
    id: 'callback-exists-deleted',
    text: 'WHERE e.endpoint_id = $1 AND e.deleted_at IS NULL',
    becomes: 'WHERE e.endpoint_id = $1',
    why: 'a request names an endpoint that gets nothing',
  },
]);

export const WEBHOOKS = [...ENDPOINTS, ...FAN_OUT, ...FLOORS, ...DELIVERIES, ...REPLAYS, ...TIMES, ...CALLBACKS];
