import { DataSource } from 'typeorm';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { migrationClasses } from './migrations.js';

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
      // Single statements, too: the fence relies on a wait being followed by a fresh look at the row.
      options: '-c default_transaction_isolation=read\\ committed',
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
