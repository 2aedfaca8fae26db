import { expect, it } from '@jest/globals';
import { DatabaseConfig, LeaseConfig } from '../../../src/config/index.js';
import {
  dataSourceOptions,
  heartbeatPool,
  lanePool,
  type PoolOptions,
  readPool,
} from '../../../src/platform/database/data-source.js';

const CONFIG = Object.assign(new DatabaseConfig(), {
  poolSize: 7,
  statementTimeout: 5_000,
});

function limitsOf(pool: PoolOptions): unknown {
  return dataSourceOptions(CONFIG, pool);
}

it.each([
  ['lanes', lanePool(CONFIG), 'lockstep', 7, 5_000],
  ['reads', readPool(CONFIG), 'lockstep-reads', 4, 5_000],
  // A statement that hangs is given up before the next renewal is due.
  ['heartbeats', heartbeatPool(CONFIG, 3_000), 'lockstep-heartbeat', 2, 3_000],
  ['heartbeats of a short time-out', heartbeatPool(CONFIG, 8_000), 'lockstep-heartbeat', 2, 5_000],
])('connections of %s are limited in number and in time', (_, pool, name, max, timeoutMs) => {
  expect(limitsOf(pool)).toMatchObject({
    applicationName: name,
    extra: {
      max,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + 1_000,
      lock_timeout: 3_000,
      idle_in_transaction_session_timeout: 5_000,
      keepAlive: true,
    },
  });
});

it('what holds a lease row is given up before a lease ends, by default', () => {
  const { duration } = new LeaseConfig();
  const { statementTimeout, lockTimeout } = new DatabaseConfig();
  for (const limit of [statementTimeout, lockTimeout]) expect(limit).toBeLessThan(duration);
});
