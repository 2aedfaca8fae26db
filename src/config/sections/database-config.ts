import { Count, Duration, Text } from '../config-fields.js';

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
}
