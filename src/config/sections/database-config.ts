import { Choice, Count, Duration, Text } from '../config-fields.js';

export class DatabaseConfig {
  @Text({ form: /^postgres(ql)?:\/\/\S+$/, words: 'must be a postgres:// URL', required: true })
  url = '';

  /** Connections of lanes, intake and head trackers. Each is held for a statement or a transaction, never during a call to a chain. */
  @Count({ max: 1000 })
  poolSize = 20;

  /**
   * Milliseconds for one statement, and for a pause inside a transaction. Below `lease.duration`: a client that hangs inside a transaction
   * locks the lease row, and the server must end that transaction before it blocks a takeover.
   */
  @Duration()
  statementTimeout = 5_000;

  /** Milliseconds for one statement of a migration. */
  @Duration()
  migrationTimeout = 60_000;

  /** Whether to refuse, at start, a server without `fsync` or `full_page_writes`, or whose collation changed, or to log an error. */
  @Choice(['report', 'refuse'])
  unsafeServer: 'report' | 'refuse' = 'report';

  /** Milliseconds to wait at start for a database that takes writes. No key: after that the process ends, and is started again. */
  readonly startTimeout: number = 300_000;

  /** Connections for the API's reads, history and metrics. */
  get readPoolSize(): number {
    return Math.ceil(this.poolSize / 2);
  }

  /** Milliseconds; below `statementTimeout`, so that a statement that waits for a lock fails for that reason. */
  get lockTimeout(): number {
    return Math.ceil(this.statementTimeout * 0.6);
  }
}
