import { isPaused } from '../../signers/index.js';

const COMMAND_COLUMNS = `c.command_id, c.chain_id, c.signer, c.tx_id, c.kind, c.request_id, c.request_hash, c.options, c.replacement, c.status, c.refusal, c.tries`;

export const FIND = {
  name: 'command_find',
  text: `SELECT ${COMMAND_COLUMNS} FROM tx_command c WHERE c.chain_id = $1 AND c.signer = $2 AND c.account_id = $3 AND c.request_id = $4`,
};

export const HAS_QUEUED = {
  name: 'command_has_queued',
  text: `SELECT FROM tx_command c WHERE c.tx_id = $1 AND c.kind = $2 AND c.status = 'QUEUED' LIMIT 1`,
};

export const SAME = {
  name: 'command_same',
  text: `
    SELECT ${COMMAND_COLUMNS} FROM tx_command c
     WHERE c.tx_id = $1 AND c.kind = $2 AND c.status = ANY($3) AND c.request_hash = $4 AND c.account_id = $5 ORDER BY c.command_id LIMIT 1`,
};

export const INSERT = {
  name: 'command_insert',
  text: `
    INSERT INTO tx_command (command_id, chain_id, signer, tx_id, kind, request_id, request_hash, options, replacement, status, account_id, due_at, decided_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp(), CASE WHEN $10 = 'DONE' THEN clock_timestamp() END)
        ON CONFLICT (chain_id, signer, account_id, request_id) DO NOTHING`,
};

/**
 * Along tx_command_queued: of each signer the longest due. A signer that is paused gets no other payload and no higher price, so only what
 * costs neither is due. The same is true of a stopped account.
 */
export const QUEUED = {
  name: 'command_queued',
  text: `
    SELECT ${COMMAND_COLUMNS} FROM unnest($2::text[]) AS w (signer)
     CROSS JOIN LATERAL (
       SELECT * FROM tx_command q
        WHERE q.chain_id = $1 AND q.signer = w.signer AND q.status = 'QUEUED' AND q.due_at <= statement_timestamp()
          AND (q.kind IN ('cancel', 'release', 'consume', 'extend', 'close') OR NOT ${isPaused('$1', 'w.signer', 'q.account_id')})
        ORDER BY q.chain_id, q.signer, q.due_at, q.command_id LIMIT $3) c`,
};

export const POSTPONE = {
  name: 'command_postpone',
  text: `
    UPDATE tx_command c SET due_at = clock_timestamp() + p.ms * interval '1 ms', tries = c.tries + 1
      FROM unnest($1::uuid[], $2::float8[]) AS p (command_id, ms)
     WHERE c.command_id = p.command_id AND c.status = 'QUEUED'`,
};

export const GET = {
  name: 'command_get',
  text: `SELECT ${COMMAND_COLUMNS} FROM tx_command c WHERE c.command_id = $1`,
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
  text: `
    SELECT ${COMMAND_COLUMNS} FROM tx_command c
     WHERE c.tx_id = $1 AND c.command_id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid) ORDER BY c.tx_id, c.command_id LIMIT $3`,
};
