import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { messageOf, Unavailable } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';
import { sqlState, translateDatabaseError } from './database-errors.js';
import { runMigrations } from './migrations.js';
import { checkServer } from './session.js';

const TRY_EVERY_MS = 1_000;
const LOG_EVERY_MS = 5_000;

export class DatabaseStaysAway extends Unavailable {
  constructor(reason: string) {
    super(
      'database_start_timeout',
      `gave up waiting for the database: ${reason}`,
      'repair the database, then start again',
    );
  }
}

/**
 * Waits for a database that takes writes, and brings its schema up to date. Waits on temporary problems: a server that is down, starting
 * up, a standby, or has locked tables. Throws at once on lasting problems: a wrong password, no such database.
 * @throws DatabaseStaysAway after five minutes
 */
export async function startDatabase(config: DatabaseConfig, log: Log): Promise<void> {
  const startedAt = performance.now();
  let loggedAt = -Infinity;
  for (;;) {
    const reason = await problemOf(() => prepare(config));
    if (reason === null) return;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= config.startTimeout) throw new DatabaseStaysAway(reason);
    if (performance.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = performance.now();
      const seconds = (ms: number): number => Math.round(ms / 1_000);
      log.warn('waiting for the database', {
        reason,
        seconds: seconds(waitedMs),
        atMost: seconds(config.startTimeout),
      });
    }
    await sleep(Math.min(TRY_EVERY_MS, config.startTimeout - waitedMs));
  }
}

async function prepare(config: DatabaseConfig): Promise<void> {
  await checkServer(config.url, config.statementTimeout);
  await runMigrations(config.url, config);
}

/** @returns why the work has to be tried again; null when it is done */
async function problemOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const translated = translateDatabaseError(error);
    if (!(translated instanceof Unavailable)) throw translated;
    return translated.cause === undefined ? translated.message : reasonOf(translated.cause);
  }
}

/** The error of a connection that was refused at several addresses has a code, but no message. */
function reasonOf(cause: unknown): string {
  const message = messageOf(cause);
  return message === '' ? (sqlState(cause) ?? 'no answer') : message;
}
