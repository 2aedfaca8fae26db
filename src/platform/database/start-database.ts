import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { messageOf, Unavailable } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';
import { sqlState, translateDatabaseError } from './database-errors.js';
import { runMigrations } from './migrations.js';
import { lookAtServer } from './session.js';

const TRY_EVERY_MS = 1_000;
const LOG_EVERY_MS = 5_000;

export class DatabaseStaysAway extends Unavailable {
  constructor(reason: string) {
    super(
      'database_start_timeout',
      `gave up waiting for the database: ${reason}`,
      'see to the database, or raise database.startTimeout',
    );
  }
}

/**
 * Waits for a database that takes writes, and brings its schema up to date. What may pass by itself is waited for: a server that is down,
 * starting up, a standby, or locked by whoever works; what will not (a wrong password, no such database) ends it at once.
 * @throws DatabaseStaysAway when `database.startTimeout` has passed
 */
export async function startDatabase(config: DatabaseConfig, log: Log): Promise<void> {
  const startedAt = performance.now();
  let loggedAt = -Infinity;
  for (;;) {
    const reason = await problemOf(() => prepare(config, log));
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

async function prepare(config: DatabaseConfig, log: Log): Promise<void> {
  await lookAtServer(config.url, config.statementTimeout);
  await runMigrations(config.url, config, (locks) =>
    log.warn('migrations lock large tables; every node waits until they are done', { locks }),
  );
}

/** @returns in words why it has to be tried again; null when it is done */
async function problemOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const translated = translateDatabaseError(error);
    if (!(translated instanceof Unavailable)) throw translated;
    return translated.cause === undefined ? translated.message : wordsOf(translated.cause);
  }
}

/** A connection that was refused at several addresses has a code, and no message. */
function wordsOf(cause: unknown): string {
  const message = messageOf(cause);
  return message === '' ? (sqlState(cause) ?? 'no answer') : message;
}
