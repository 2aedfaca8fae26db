import { DataSource, type DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { DURABLE_POOL } from './durable-commits.js';
import { migrationClasses } from './migrations.js';
import { SESSION_OPTIONS } from './session-settings.js';

/** Options of one of the pools of a node. Pools share no connections, so one kind of work never waits for connections of another kind. */
export interface PoolOptions {
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly max: number;
  /** Milliseconds for one statement, and to wait for a connection. */
  readonly statementTimeout: number;
}

/** The pool of lanes, intake and head trackers. */
export function lanePool({ poolSize, statementTimeout }: DatabaseConfig): PoolOptions {
  return { applicationName: 'lockstep', max: poolSize, statementTimeout };
}

/** The pool of reads: slow lists and many long polls delay only other reads. */
export function readPool({ readPoolSize, statementTimeout }: DatabaseConfig): PoolOptions {
  return { applicationName: 'lockstep-reads', max: readPoolSize, statementTimeout };
}

/** The second connection is for when the first one hangs; a statement that hangs is cancelled before the next renewal is due. */
export const HEARTBEAT_CONNECTIONS = 2;

export function heartbeatPool({ statementTimeout }: DatabaseConfig, renewInterval: number): PoolOptions {
  return {
    applicationName: 'lockstep-heartbeat',
    max: HEARTBEAT_CONNECTIONS,
    statementTimeout: Math.min(statementTimeout, renewInterval),
  };
}

/**
 * The time-outs limit how long a stalled client can lock a lease row, and so block a takeover: all of them are shorter than a lease
 * (docs/invariants.md, I2).
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
      idle_in_transaction_session_timeout: config.statementTimeout,
      // A server that disappears without closing the connection must not block a query for ever.
      query_timeout: pool.statementTimeout + 1000,
      keepAlive: true,
    },
    // Without a listener the error of an idle connection ends the process; the pool replaces the connection by itself.
    poolErrorHandler: () => undefined,
  };
}

export function createDataSource(config: DatabaseConfig, pool: PoolOptions = lanePool(config)): DataSource {
  return new DataSource(dataSourceOptions(config, pool));
}
