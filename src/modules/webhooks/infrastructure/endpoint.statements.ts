const COLUMNS = `e.endpoint_id, e.account_id, e.url, e.description, e.types, e.chain_ids, e.signers, e.callback_only, e.disabled_at, e.disabled_reason,
  (SELECT max(t.until) FROM unnest(e.previous_secret_ends) AS t (until)) AS previous_secret_until, e.failing_since, e.created_at, e.updated_at`;

/**
 * The endpoints that a caller may see: those of its account, and when it is limited to signers or chains, those that get no events of others.
 * The parameters follow one another: account, signers, chains.
 */
function visibleTo(first: number): string {
  const [account, signers, chainIds] = [first, first + 1, first + 2].map((n) => `$${n}`);
  return `e.deleted_at IS NULL AND e.account_id = ${account} AND (${chainIds}::bigint[] IS NULL OR e.chain_ids <@ ${chainIds})
       AND (${signers}::text[] IS NULL OR e.signers IS NOT NULL AND NOT EXISTS (
         SELECT FROM unnest(e.chain_ids) AS c (chain_id), unnest(e.signers) AS s (signer) WHERE c.chain_id || ':' || s.signer <> ALL(${signers})))`;
}

/** Previous secrets that sign still, as `p`. By the time of the statement, which is the same in all its places. */
const LIVING =
  'unnest(e.previous_secrets, e.previous_secret_ends) AS p (secret, until) WHERE p.until > statement_timestamp()';

/** All secrets that sign now, the newest first. */
export const SIGNING = `e.secret || ARRAY(SELECT p.secret FROM ${LIVING})`;

/** The host and the port of its URL, which is stored as `new URL` writes it. */
export const HOST = `split_part(e.url, '/', 3)`;

/**
 * The place of the fan-out comes into being with the first endpoint: every event that is committed later is behind it. What is behind it and was
 * committed before is left out (IS_FROM_BEFORE).
 */
export const ADD = {
  name: 'webhook_add',
  text: `
    WITH place AS (
      INSERT INTO event_reader (name, xid, seq)
      SELECT 'webhooks', coalesce(l.xid, '0'::xid8), coalesce(l.seq, 0)
        FROM (SELECT 1) one LEFT JOIN (
          SELECT t.xid, t.seq FROM tx_event t WHERE t.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY t.xid DESC, t.seq DESC LIMIT 1) l ON true
      ON CONFLICT (name) DO NOTHING)
    INSERT INTO webhook_endpoint AS e (endpoint_id, url, description, types, chain_ids, signers, callback_only, secret, account_id, created_in, created_after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, pg_current_snapshot(), (SELECT last_value FROM tx_event_seq_seq)) RETURNING ${COLUMNS}`,
};

export const LOCK_ACCOUNT = {
  name: 'webhook_lock_account',
  text: 'SELECT 1 FROM account WHERE account_id = $1 FOR NO KEY UPDATE',
};

export const COUNT = {
  name: 'webhook_count',
  text: 'SELECT count(*)::int AS count FROM webhook_endpoint WHERE account_id = $1 AND deleted_at IS NULL',
};

export const FIND = {
  name: 'webhook_find',
  text: `SELECT ${COLUMNS} FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND ${visibleTo(2)}`,
};

export const LOCK = {
  name: 'webhook_lock',
  text: `SELECT ${COLUMNS} FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND ${visibleTo(2)} FOR UPDATE`,
};

export const LIST = {
  name: 'webhook_list',
  text: `
    SELECT ${COLUMNS} FROM webhook_endpoint e
     WHERE ($1::uuid IS NULL OR e.endpoint_id < $1) AND ${visibleTo(3)} ORDER BY e.endpoint_id DESC LIMIT $2`,
};

/** An endpoint that is enabled again has not failed yet. */
export const CHANGE = {
  name: 'webhook_change',
  text: `
    UPDATE webhook_endpoint e
       SET hastening = e.hastening OR e.url <> $2, url = $2, description = $3, types = $4, chain_ids = $5, signers = $6, callback_only = $7,
           disabled_at = CASE WHEN $8 THEN NULL ELSE coalesce(e.disabled_at, clock_timestamp()) END,
           disabled_reason = CASE WHEN $8 THEN NULL ELSE coalesce(e.disabled_reason, $9) END,
           failing_since = CASE WHEN $8 AND e.disabled_at IS NOT NULL THEN NULL ELSE e.failing_since END,
           updated_at = clock_timestamp()
     WHERE e.endpoint_id = $1 RETURNING ${COLUMNS}, e.hastening`,
};

/** Some of what the receiver at another URL had put off. */
export const HASTEN = {
  name: 'webhook_hasten',
  text: `
    UPDATE webhook_delivery d SET due_at = clock_timestamp()
     WHERE d.status || '' = 'waiting' AND d.ctid = ANY(ARRAY(
       SELECT o.ctid FROM webhook_delivery o
        WHERE o.endpoint_id = $1 AND o.status = 'waiting' AND o.due_at > statement_timestamp() LIMIT $2 FOR UPDATE SKIP LOCKED))`,
};

/** Not when the URL has changed again: what the receiver before that has put off is due later. */
export const HASTENED = {
  name: 'webhook_hastened',
  text: 'UPDATE webhook_endpoint SET hastening = false WHERE endpoint_id = $1 AND url = $2',
};

/** Endpoints whose change of the URL stopped before HASTENED. In any order: one whose statements fail must not stop the others. */
export const UNFINISHED = {
  name: 'webhook_unfinished',
  text: 'SELECT endpoint_id, url FROM webhook_endpoint WHERE hastening AND deleted_at IS NULL ORDER BY random() LIMIT $1',
};

/** All that have signed until now keep their ends, or none signs any more. */
export const ROTATE = {
  name: 'webhook_rotate',
  text: `
    UPDATE webhook_endpoint e
       SET secret = $2, updated_at = clock_timestamp(),
           previous_secrets = CASE WHEN $3::float8 = 0 THEN '{}' ELSE ${SIGNING} END,
           previous_secret_ends = CASE WHEN $3::float8 = 0 THEN '{}'
             ELSE (statement_timestamp() + $3::float8 * interval '1 ms') || ARRAY(SELECT p.until FROM ${LIVING}) END
     WHERE e.endpoint_id = $1 AND ${visibleTo(5)} AND ($3::float8 = 0 OR (SELECT count(*) FROM ${LIVING}) < $4)
    RETURNING ${COLUMNS}`,
};

/** In how many seconds the first previous secret ends. */
export const FIRST_END = {
  name: 'webhook_first_end',
  text: `
    SELECT (SELECT extract(epoch FROM min(p.until) - statement_timestamp()) FROM ${LIVING})::float8 AS seconds
      FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND ${visibleTo(2)}`,
};

export const SECRETS = {
  name: 'webhook_secrets',
  text: `SELECT ${SIGNING} AS secrets FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND e.deleted_at IS NULL`,
};

/** In any order: those that cannot be decrypted must not keep the others out of the page. */
export const NOT_ENCRYPTED_AS = {
  name: 'webhook_not_encrypted_as',
  text: `
    SELECT e.endpoint_id, ${SIGNING} AS secrets FROM webhook_endpoint e
     WHERE e.deleted_at IS NULL AND EXISTS (SELECT FROM unnest(${SIGNING}) AS s (stored) WHERE starts_with(s.stored, $1) IS NOT TRUE)
     ORDER BY random() LIMIT $2`,
};

/** Not when a rotation came between, or one has ended. */
export const REPLACE_SECRETS = {
  name: 'webhook_replace_secrets',
  text: `
    UPDATE webhook_endpoint e
       SET secret = ($3::text[])[1], previous_secrets = ($3::text[])[2:], previous_secret_ends = ARRAY(SELECT p.until FROM ${LIVING})
     WHERE e.endpoint_id = $1 AND ${SIGNING} = $2::text[]`,
};

export const REMOVE = {
  name: 'webhook_remove',
  text: `UPDATE webhook_endpoint e SET deleted_at = clock_timestamp() WHERE e.endpoint_id = $1 AND ${visibleTo(2)}`,
};

export const DISABLE = {
  name: 'webhook_disable',
  text: `
    UPDATE webhook_endpoint SET disabled_at = clock_timestamp(), disabled_reason = $2, updated_at = clock_timestamp()
     WHERE endpoint_id = $1 AND disabled_at IS NULL AND ($3::text IS NULL OR url = $3)`,
};

export const SET_FAILING = {
  name: 'webhook_set_failing',
  text: `
    UPDATE webhook_endpoint SET failing_since = CASE WHEN $2::boolean THEN clock_timestamp() END
     WHERE endpoint_id = $1 AND (failing_since IS NULL) = $2::boolean`,
};
