import { Choice, Count, Duration, Text } from '../config-fields.js';

export type LargeMigrations = 'refuse' | 'run';

/**
 * The three time-outs must be below `lease.duration`: a client that pauses inside a transaction locks the lease row, and the server must
 * end that transaction before it blocks a takeover.
 */
export class DatabaseConfig {
  @Text({ form: /^postgres(ql)?:\/\/\S+$/, words: 'must be a postgres:// URL', required: true })
  url = '';

  /** Connections of lanes, intake and head trackers. Each is held for a statement or a transaction, never during a call to a chain. */
  @Count({ max: 1000 })
  poolSize = 20;

  /** Connections for the API's reads, history and metrics. */
  @Count({ max: 1000 })
  readPoolSize = 10;

  /** Milliseconds. */
  @Duration()
  statementTimeout = 5_000;

  /** Milliseconds. */
  @Duration()
  lockTimeout = 3_000;

  /** Milliseconds. */
  @Duration()
  idleInTransactionTimeout = 5_000;

  /** Milliseconds to wait at start for a database that takes writes; 0 tries once. */
  @Duration({ min: 0 })
  startTimeout = 300_000;

  /** Milliseconds for one statement of a migration; `lockTimeout` applies to migrations, too. */
  @Duration()
  migrationTimeout = 60_000;

  /** Whether to run or refuse, at start, a migration that locks a table of a million rows or more while it reads the whole table. */
  @Choice(['refuse', 'run'])
  largeMigrations: LargeMigrations = 'refuse';

  /** Whether to refuse, at start, a server without `fsync` or `full_page_writes`, or to log an error. */
  @Choice(['report', 'refuse'])
  unsafeServer: 'report' | 'refuse' = 'report';
}
