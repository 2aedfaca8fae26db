/** Nodes that hear it read the keys again. */
export const CHANNEL = 'lockstep_keys';

const COLUMNS =
  'k.key_id, k.account_id, k.name, k.scopes, k.signers, k.chain_ids, k.expires_at, k.revoked_at, k.last_used_at, k.created_at';
export const TOLD = `pg_notify('${CHANNEL}', '')`;
/** Null for never. A rotation revokes a key some time ahead. */
const ENDS_AT = 'least(k.expires_at, k.revoked_at)';
const IS_LIVE = `coalesce(${ENDS_AT} > clock_timestamp(), true)`;

/** The keys that a caller may manage. The parameters follow one another: account, signers, chains; null stands for all. */
function managedBy(first: number): string {
  const [account, signers, chainIds] = [first, first + 1, first + 2].map((n) => `$${n}`);
  return `(${account}::uuid IS NULL OR k.account_id = ${account}) AND (${signers}::text[] IS NULL OR k.signers <@ ${signers})
      AND (${chainIds}::bigint[] IS NULL OR k.chain_ids <@ ${chainIds})`;
}

export const ADD = {
  name: 'key_add',
  text: `
    WITH k AS (
      INSERT INTO api_key (key_id, account_id, name, secret_hash, scopes, expires_at, signers, chain_ids)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *)
    SELECT ${COLUMNS}, ${TOLD} FROM k`,
};

export const FIND = {
  name: 'key_find',
  text: `SELECT ${COLUMNS} FROM api_key k WHERE k.key_id = $1 AND ${managedBy(2)}`,
};

export const LIST = {
  name: 'key_list',
  text: `
    SELECT ${COLUMNS} FROM api_key k
     WHERE ($1::uuid IS NULL OR k.key_id < $1) AND ${managedBy(3)} ORDER BY k.key_id DESC LIMIT $2`,
};

export const LIVE = {
  name: 'key_live',
  text: `
    SELECT ${COLUMNS}, k.secret_hash, (extract(epoch FROM ${ENDS_AT} - clock_timestamp()) * 1000)::float8 AS ends_in_ms
      FROM api_key k JOIN account a USING (account_id) WHERE ${IS_LIVE} AND a.disabled_at IS NULL`,
};

export const LOCK = {
  name: 'key_lock',
  text: `SELECT ${COLUMNS} FROM api_key k WHERE k.key_id = $1 AND ${IS_LIVE} FOR UPDATE`,
};

/** Keeps what it was made with, so that a key that is rotated once more gives the same. */
export const REVOKE_AFTER = {
  name: 'key_revoke_after',
  text: `
    UPDATE api_key SET revoked_at = least(revoked_at, clock_timestamp() + $2::float8 * interval '1 ms') WHERE key_id = $1`,
};

export const REVOKE = {
  name: 'key_revoke',
  text: `
    WITH k AS (
      UPDATE api_key k SET revoked_at = least(k.revoked_at, clock_timestamp()) WHERE k.key_id = $1 AND ${managedBy(2)} RETURNING k.*)
    SELECT ${COLUMNS}, ${TOLD} FROM k`,
};

/** In the order of the ids, so that two nodes do not wait for each other. */
export const RECORD_USES = {
  name: 'key_record_uses',
  text: `
    WITH used AS (
      SELECT k.key_id, statement_timestamp() - u.ago_ms * interval '1 ms' AS at
        FROM api_key k JOIN unnest($1::uuid[], $2::float8[]) AS u (key_id, ago_ms) USING (key_id)
       ORDER BY k.key_id FOR UPDATE OF k)
    UPDATE api_key k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.key_id = used.key_id`,
};
