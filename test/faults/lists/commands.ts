import { faultsIn, int } from '../fault.js';

const RACES = int('races');

export const COMMANDS = faultsIn('modules/commands/infrastructure/command.statements.ts', int('command-rows'), [
  {
    id: 'command-lock-nothing',
    text: 'WHERE t.tx_id = $1 FOR UPDATE',
    becomes: 'WHERE t.tx_id = $1',
    why: 'a lane gives a nonce to a tx that is being cancelled',
  },
  {
    id: 'command-find-of-any-signer',
    text: 'WHERE c.chain_id = $1 AND c.signer = $2 AND c.request_id = $3',
    becomes: 'WHERE c.chain_id = $1 AND c.signer = c.signer AND $2::text <> $3::text AND c.request_id = $3',
    why: 'two signers cannot use one key',
  },
  {
    id: 'command-queued-replace-any',
    text: `AND c.kind = 'replace' AND c.status = 'QUEUED' LIMIT 1`,
    becomes: `AND c.kind = 'replace' LIMIT 1`,
    why: 'a replace that was refused blocks every later one',
  },
  {
    id: 'command-has-blobs-of-any-tx',
    text: `WHERE t.tx_id = $1 AND t.options ? 'blobHashes'`,
    becomes: `WHERE t.tx_id = $1`,
    why: 'every replacement by a plain payload is refused',
  },
  {
    id: 'command-insert-overwrites-nothing-silently',
    text: `CASE WHEN $10 = 'DONE' THEN clock_timestamp() END`,
    becomes: 'NULL',
    why: 'nobody can tell when a command was carried out',
  },
  {
    id: 'command-save-pending-any-state',
    text: `     WHERE tx_id = $1 AND state = 'PENDING'\`,
};

export const EDIT_REQUEST`,
    becomes: `     WHERE tx_id = $1\`,
};

export const EDIT_REQUEST`,
    why: 'a tx that has a nonce is written without a lease',
  },
  {
    id: 'command-edit-keeps-the-data',
    text: `value = $3, data = decode(substr($4, 3), 'hex'), options`,
    becomes: `value = $3, data = CASE WHEN $4::text IS NULL THEN data ELSE data END, options`,
    why: 'a payload that was replaced is executed',
    caughtBy: RACES,
  },
  {
    id: 'command-replacement-is-due',
    text: `$14, 'infinity')`,
    becomes: `$14, clock_timestamp())`,
    why: 'a lane sends the replacement at a nonce of its own, beside the original',
    caughtBy: RACES,
  },
  {
    id: 'command-queued-of-any-status',
    text: `c.chain_id = $1 AND c.status = 'QUEUED' AND c.signer`,
    becomes: `c.chain_id = $1 AND c.signer`,
    why: 'every command is carried out again each second',
  },
  {
    id: 'command-decided-twice',
    text: `WHERE c.command_id = d.command_id AND c.status = 'QUEUED'`,
    becomes: 'WHERE c.command_id = d.command_id',
    why: 'a late owner turns DONE into REFUSED',
  },
  {
    id: 'command-of-every-tx',
    text: 'FROM tx_command c WHERE c.tx_id = $1 ORDER BY',
    becomes: 'FROM tx_command c WHERE $1::uuid IS NOT NULL ORDER BY',
    why: 'a client sees the commands of others',
  },
  {
    id: 'command-expired-early',
    text: 't.expires_at <= statement_timestamp()',
    becomes: 't.expires_at IS NOT NULL',
    why: 'a tx is cancelled before its time',
    caughtBy: RACES,
  },
  {
    id: 'command-has-expired-of-any-time',
    text: 't.tx_id = $1 AND t.expires_at <= clock_timestamp()',
    becomes: 't.tx_id = $1 AND t.expires_at IS NOT NULL',
    why: 'a replacement that expires some day never competes',
  },
  {
    id: 'command-has-expired-of-any-tx',
    text: 't.tx_id = $1 AND t.expires_at <= clock_timestamp()',
    becomes: '$1::uuid IS NOT NULL AND t.expires_at <= clock_timestamp()',
    why: 'one tx that expired ends all replacements',
  },
  {
    id: 'command-is-queued-in-any-status',
    text: `c.command_id = $1 AND c.status = 'QUEUED'`,
    becomes: 'c.command_id = $1',
    why: 'a speed-up whose send failed raises the price again',
  },
  {
    id: 'command-is-queued-when-any-is',
    text: `c.command_id = $1 AND c.status = 'QUEUED'`,
    becomes: `$1::uuid IS NOT NULL AND c.status = 'QUEUED'`,
    why: 'a speed-up whose send failed raises the price again while another command waits',
  },
]);
