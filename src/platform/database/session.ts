import { Client } from 'pg';
import { InvalidInput, messageOf, Unavailable } from '../../kernel/errors.js';
import { translateDatabaseError } from './database-errors.js';
import { SESSION_OPTIONS } from './session-settings.js';

/** Reads whether the server takes writes, and whether the session has our settings. */
const READ_SESSION = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
         current_setting('enable_seqscan') = 'off' AS "hasSettings"`;

/**
 * Checks the server, on a connection like those of the pools.
 * @throws Unavailable when the server does not answer, is starting up, or takes no writes
 * @throws InvalidInput `connection_pooler` when a connection pooler drops the session settings
 */
export async function checkServer(url: string, timeoutMs: number): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'lockstep-start',
    options: SESSION_OPTIONS,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A connection that dies also emits an event, which ends the process when it has no listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ readOnly: boolean; hasSettings: boolean }>(READ_SESSION);
    if (rows[0]?.hasSettings !== true) throw poolerBetween();
    if (rows[0].readOnly) throw new Unavailable('database_read_only', 'the database is read-only: a standby', 'wait');
  } catch (error) {
    // PgBouncer refuses most session parameters.
    throw messageOf(error).includes('unsupported startup parameter') ? poolerBetween() : translateDatabaseError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function poolerBetween(): InvalidInput {
  return new InvalidInput(
    'connection_pooler',
    'the settings of a session do not reach PostgreSQL: database.url leads to a connection pooler such as PgBouncer',
    'set database.url to PostgreSQL itself: Lockstep has its own pools, and needs sessions for prepared statements, LISTEN and locks',
  );
}
