import { DataSource } from 'typeorm';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { migrationClasses } from './migrations.js';

/**
 * Single statements, too, are READ COMMITTED: the fence relies on a wait being followed by a fresh look at the row. Plans are cached per
 * connection, and on a fresh database the cheapest one is to read the whole, still empty table; every statement here is written
 * for nested loops over an index, so that is all the planner may choose as long as there is one.
 */
const SETTINGS = {
  default_transaction_isolation: 'read\\ committed',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/**
 * The time-outs bound how long a stalled client can hold a lease row, and with it a takeover (design, section 5):
 * all of them end before a lease does.
 */
export function createDataSource(config: DatabaseConfig): DataSource {
  return new DataSource({
    type: 'postgres',
    url: config.url,
    migrations: migrationClasses(),
    applicationName: 'lockstep',
    extra: {
      max: config.poolSize,
      connectionTimeoutMillis: config.statementTimeout,
      options: Object.entries(SETTINGS)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      statement_timeout: config.statementTimeout,
      lock_timeout: config.lockTimeout,
      idle_in_transaction_session_timeout: config.idleInTransactionTimeout,
      // A server that went away without a word must not hold a query for ever.
      query_timeout: config.statementTimeout + 1000,
      keepAlive: true,
    },
    // Without a listener the death of an idle connection ends the process; the pool replaces it by itself.
    poolErrorHandler: () => undefined,
  });
}
