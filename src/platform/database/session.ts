import { Client } from 'pg';
import { InvalidInput, messageOf, Unavailable } from '../../kernel/errors.js';
import { translateDatabaseError } from './database-errors.js';
import { SESSION_OPTIONS } from './session-settings.js';

/** What a session says of the server that it leads to, and of itself. */
const LOOK = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
         current_setting('enable_seqscan') = 'off' AS "hasSettings"`;

/**
 * One look at the server, on a connection like those of the pools.
 * @throws Unavailable when it does not answer, is starting up, or takes no writes
 * @throws InvalidInput `connection_pooler` when a pooler between keeps session settings from the server
 */
export async function lookAtServer(url: string, timeoutMs: number): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'lockstep-start',
    options: SESSION_OPTIONS,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A connection that dies says so by an event, too, which ends the process when nobody listens.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ readOnly: boolean; hasSettings: boolean }>(LOOK);
    if (rows[0]?.hasSettings !== true) throw poolerBetween();
    if (rows[0].readOnly) throw new Unavailable('database_read_only', 'the database is read-only: a standby', 'wait');
  } catch (error) {
    // PgBouncer knows few of the parameters of a session, and refuses the others.
    throw messageOf(error).includes('unsupported startup parameter') ? poolerBetween() : translateDatabaseError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function poolerBetween(): InvalidInput {
  return new InvalidInput(
    'connection_pooler',
    'the settings of a session do not reach PostgreSQL: database.url leads to a connection pooler such as PgBouncer',
    'let database.url lead to PostgreSQL itself: Lockstep has pools of its own, and needs sessions for prepared statements, LISTEN and locks',
  );
}
