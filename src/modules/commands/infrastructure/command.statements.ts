import { PROGRESS_COLUMNS } from '../../transactions/index.js';

const COMMAND_COLUMNS = `c.command_id, c.chain_id, c.signer, c.tx_id, c.kind, c.request_id, c.request_hash, c.options, c.replacement, c.status, c.refusal`;

/** Waits for a lane that holds the row, and then reads what the lane wrote. A lane skips a row that is locked here. */
export const LOCK = {
  name: 'command_lock',
  text: `SELECT ${PROGRESS_COLUMNS} FROM managed_tx t WHERE t.tx_id = $1 FOR UPDATE`,
};

export const FIND = {
  name: 'command_find',
  text: `SELECT ${COMMAND_COLUMNS} FROM tx_command c WHERE c.chain_id = $1 AND c.signer = $2 AND c.request_id = $3`,
};

export const QUEUED_REPLACE = {
  name: 'command_queued_replace',
  text: `SELECT FROM tx_command c WHERE c.tx_id = $1 AND c.kind = 'replace' AND c.status = 'QUEUED' LIMIT 1`,
};

export const HAS_BLOBS = {
  name: 'command_has_blobs',
  text: `SELECT FROM managed_tx t WHERE t.tx_id = $1 AND t.options ? 'blobHashes'`,
};

export const INSERT = {
  name: 'command_insert',
  text: `
    INSERT INTO tx_command (command_id, chain_id, signer, tx_id, kind, request_id, request_hash, options, replacement, status, decided_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $10 = 'DONE' THEN clock_timestamp() END)
        ON CONFLICT (chain_id, signer, request_id) DO NOTHING`,
};

/** The version makes a lane that read the row before refuse its own copy. */
export const SAVE_PENDING = {
  name: 'command_save_pending',
  text: `
    UPDATE managed_tx SET state = $2, sub_state = $3, failure_reason = $4, tries = 0, last_error = NULL,
           next_resubmit_at = CASE WHEN $2 = 'PENDING' THEN CASE WHEN next_resubmit_at = 'infinity' THEN next_resubmit_at ELSE clock_timestamp() END END,
           version = version + 1, updated_at = clock_timestamp()
     WHERE tx_id = $1 AND state = 'PENDING'`,
};

export const EDIT_REQUEST = {
  name: 'command_edit_request',
  text: `
    UPDATE managed_tx SET to_address = $2, value = $3, data = decode(substr($4, 3), 'hex'), options = $5, confirmations = $6, expires_at = $7, metadata = $8
     WHERE tx_id = $1 AND state = 'PENDING'`,
};

/** Due never: its command gives it a nonce, or ends it. */
export const INSERT_REPLACEMENT = {
  name: 'command_insert_replacement',
  text: `
    WITH replacement AS (
      INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, state, sub_state, replaces, next_resubmit_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, decode(substr($8, 3), 'hex'), $9, $10, $11, $12, $13, 'PENDING', 'REPLACING', $14, 'infinity')
          ON CONFLICT (chain_id, signer, request_id) DO NOTHING
      RETURNING tx_id, chain_id)
    INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, detail)
    SELECT chain_id, tx_id, 'queued', 'PENDING', $15, jsonb_build_object('replaces', $14::text) FROM replacement`,
};

export const QUEUED = {
  name: 'command_queued',
  text: `
    SELECT ${COMMAND_COLUMNS} FROM tx_command c
     WHERE c.chain_id = $1 AND c.status = 'QUEUED' AND c.signer = ANY($2::text[]) ORDER BY c.chain_id, c.command_id LIMIT $3`,
};

export const IS_QUEUED = {
  name: 'command_is_queued',
  text: `SELECT FROM tx_command c WHERE c.command_id = $1 AND c.status = 'QUEUED'`,
};

export const DECIDE = {
  name: 'command_decide',
  text: `
    UPDATE tx_command c SET status = CASE WHEN d.refusal IS NULL THEN 'DONE' ELSE 'REFUSED' END, refusal = d.refusal, decided_at = clock_timestamp()
      FROM unnest($1::uuid[], $2::text[]) AS d (command_id, refusal)
     WHERE c.command_id = d.command_id AND c.status = 'QUEUED'`,
};

export const OF_TX = {
  name: 'command_of_tx',
  text: `SELECT ${COMMAND_COLUMNS} FROM tx_command c WHERE c.tx_id = $1 ORDER BY c.tx_id, c.command_id LIMIT 1000`,
};

export const HAS_EXPIRED = {
  name: 'command_has_expired',
  text: `SELECT FROM managed_tx t WHERE t.tx_id = $1 AND t.expires_at <= clock_timestamp()`,
};

/** Along managed_tx_expiring, which has only txs with an end. */
export const EXPIRED = {
  name: 'command_expired',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.chain_id = $1 AND t.expires_at <= statement_timestamp() AND t.state IN ('ALLOCATED', 'IN_MEMPOOL') AND t.closing IS NULL
       AND t.replaced_by IS NULL AND t.expires_at IS NOT NULL AND t.sub_state IS DISTINCT FROM 'REPLACING' AND (t.signer || '') = ANY($2::text[])
     ORDER BY t.chain_id, t.expires_at LIMIT $3`,
};
