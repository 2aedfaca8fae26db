import { DataSource, type DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { DURABLE_POOL } from './durable-commits.js';
import { migrationClasses } from './migrations.js';
import { SESSION_OPTIONS } from './session-settings.js';

/** One of the pools of a node, which share nothing: work of one kind never waits for a connection that another kind holds. */
export interface PoolOptions {
  /** Seen in pg_stat_activity. */
  readonly applicationName: string;
  readonly max: number;
  /** Milliseconds for one statement, and to wait for a connection. */
  readonly statementTimeout: number;
}

/** What the lanes, the intake and the followers of chains share. */
export function lanePool({ poolSize, statementTimeout }: DatabaseConfig): PoolOptions {
  return { applicationName: 'lockstep', max: poolSize, statementTimeout };
}

/** A slow list, or a thousand long polls, make only other reads wait. */
export function readPool({ readPoolSize, statementTimeout }: DatabaseConfig): PoolOptions {
  return { applicationName: 'lockstep-reads', max: readPoolSize, statementTimeout };
}

/** The second connection is there when the first hangs; a statement that hangs is given up before the next renewal is due. */
export const HEARTBEAT_CONNECTIONS = 2;

export function heartbeatPool({ statementTimeout }: DatabaseConfig, renewInterval: number): PoolOptions {
  return {
    applicationName: 'lockstep-heartbeat',
    max: HEARTBEAT_CONNECTIONS,
    statementTimeout: Math.min(statementTimeout, renewInterval),
  };
}

/**
 * The time-outs bound how long a stalled client can hold a lease row, and with it a takeover (design, section 5):
 * all of them end before a lease does.
 */
export function dataSourceOptions(config: DatabaseConfig, pool: PoolOptions = lanePool(config)): DataSourceOptions {
  return {
    type: 'postgres',
    url: config.url,
    migrations: migrationClasses(),
    applicationName: pool.applicationName,
    extra: {
      ...DURABLE_POOL,
      max: pool.max,
      connectionTimeoutMillis: pool.statementTimeout,
      options: SESSION_OPTIONS,
      statement_timeout: pool.statementTimeout,
      lock_timeout: config.lockTimeout,
      idle_in_transaction_session_timeout: config.idleInTransactionTimeout,
      // A server that went away without a word must not hold a query for ever.
      query_timeout: pool.statementTimeout + 1000,
      keepAlive: true,
    },
    // Without a listener the death of an idle connection ends the process; the pool replaces it by itself.
    poolErrorHandler: () => undefined,
  };
}

export function createDataSource(config: DatabaseConfig, pool: PoolOptions = lanePool(config)): DataSource {
  return new DataSource(dataSourceOptions(config, pool));
}
