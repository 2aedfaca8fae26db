import { Choice, Count, Duration, Text } from '../config-fields.js';

export type LargeMigrations = 'refuse' | 'run';

/**
 * The three time-outs are below `lease.duration`: a client that pauses inside a transaction holds the lease row, and
 * must be thrown out before it can block a takeover.
 */
export class DatabaseConfig {
  @Text({ form: /^postgres(ql)?:\/\/\S+$/, words: 'must be a postgres:// URL', required: true })
  url = '';

  /** Connections of the lanes, the intake and the followers of chains; held for a statement or a transaction, never during a call to a chain. */
  @Count({ max: 1000 })
  poolSize = 20;

  /** Connections of the API's reads, of history and of metrics. */
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

  /** Milliseconds for one statement of a migration; `lockTimeout` counts for them, too. */
  @Duration()
  migrationTimeout = 60_000;

  /** What to do at start with a migration that would lock a table of a million rows or more for as long as it takes to read it. */
  @Choice(['refuse', 'run'])
  largeMigrations: LargeMigrations = 'refuse';

  /** What a server without `fsync` or `full_page_writes` gets at start. */
  @Choice(['report', 'refuse'])
  unsafeServer: 'report' | 'refuse' = 'report';
}
