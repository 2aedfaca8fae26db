import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { installRefusals, refuseNext, unrefused } from '../support/server-refusals.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** The service is the one that looks for a deadlock, and so its victim; below its lock_timeout, which would end it as well. */
const DEADLOCK_TIMEOUT_MS = 700;
const TIMEOUTS = { statementTimeout: '1800ms' };
const BUSY = DEV_ACCOUNTS[4];

let anvil: RunningAnvil;
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  const name = new URL(database.url).pathname.slice(1);
  await inSession(async (session) => {
    await session.query(`ALTER DATABASE ${name} SET deadlock_timeout = ${DEADLOCK_TIMEOUT_MS}`);
    await session.query(installRefusals());
  });
  const links = { databaseUrl: database.url, rpcUrl: anvil.url, viaProxies: true };
  cluster = await Cluster.start({ nodes: 2, ...links, config: { database: TIMEOUTS } });
});

afterAll(async () => {
  await cluster.stop();
  await Promise.all([database.drop(), anvil.kill()]);
});

/** On a connection of its own. */
async function inSession(work: (session: Client) => Promise<unknown>): Promise<void> {
  const session = new Client({ connectionString: database.url });
  await session.connect();
  try {
    await work(session);
  } finally {
    await session.end();
  }
}

function blocksBy(how: 'clock' | 'hand'): Promise<unknown> {
  return callRpc(anvil.url, 'evm_setIntervalMining', [how === 'clock' ? 1 : 0]);
}

/**
 * The faults happened, because the server itself counts what it refuses (test/support/server-refusals.ts), and none is missing.
 * At commit it is a deferred trigger that raises: the error answers the COMMIT, as a serialization failure may.
 */
it.each([
  { sqlState: '40001', from: 0 },
  { sqlState: '40P01', from: 2 },
])('a server that answers $sqlState to every write, and to COMMIT, three times each loses nothing', async (fault) => {
  await blocksBy('clock');
  await refuseNext(cluster.database, fault.sqlState);
  await cluster.createMany(DEV_ACCOUNTS.slice(fault.from, fault.from + 2), fault.sqlState, 50);
  await cluster.expectExactlyOnce();
  expect(await unrefused(cluster.database)).toEqual([]);
});

/** Deadlocks that the server has ended, by whichever side. */
async function deadlocks(): Promise<number> {
  const [row] = await cluster.database.query<{ count: number }>(
    'SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.count ?? 0;
}

async function serviceWaitsFor(pid: number): Promise<boolean> {
  const waiting = await cluster.database.query(
    `SELECT FROM pg_stat_activity WHERE application_name = 'lockstep' AND $1 = ANY(pg_blocking_pids(pid))`,
    [pid],
  );
  return waiting.length > 0;
}

/** Holds one row of those the service writes next; when it waits for that one, asks for the ones it has written before. */
function crossing(state: string, work: () => Promise<unknown>): Promise<void> {
  return inSession(async (session) => {
    await session.query(`SET deadlock_timeout = '1min'`);
    await session.query('BEGIN');
    const { rows } = await session.query<{ tx_id: string; pid: number }>(
      `SELECT tx_id, pg_backend_pid() AS pid FROM managed_tx
        WHERE tx_id = (SELECT tx_id FROM managed_tx WHERE state = $1 ORDER BY tx_id OFFSET 10 LIMIT 1) FOR UPDATE`,
      [state],
    );
    const [held] = rows;
    if (!held) throw new Error(`nothing is ${state}`);
    await work();
    await until('the service waits', () => serviceWaitsFor(held.pid));
    // It is not this session that is ended: that would throw here.
    await session.query('SELECT FROM managed_tx WHERE tx_id <> $1 FOR UPDATE', [held.tx_id]);
    await session.query('ROLLBACK');
  });
}

/** Those that the service says it was the victim of. */
function victimOf(): number {
  const failures = cluster.nodes.flatMap(({ service }) => service.logged('ticker.failed'));
  return failures.filter((failure) => JSON.stringify(failure).includes('deadlock detected')).length;
}

/**
 * The deadlocks happened, because the server counts them; and the service was the victim, because it logs so, and because the
 * only other one in them goes on. A service that is found waiting too late is not yet in one: then it all happens again.
 */
it.each([
  { write: 'its receipts', state: 'IN_MEMPOOL' },
  { write: 'its confirmations', state: 'MINED' },
])('a service that is the victim of a deadlock when it writes $write loses nothing', async ({ state }) => {
  const [counted, suffered] = [await deadlocks(), victimOf()];
  for (let round = 0; victimOf() === suffered; round += 1) {
    const mark = `${state}-${round}`;
    await blocksBy('hand');
    await cluster.createMany([BUSY], mark, 20);
    const reach = (all: string): Promise<void> =>
      until(`all are ${all}`, async () => (await cluster.database.countByState(mark))[all] === 20);
    await reach('IN_MEMPOOL');
    if (state === 'MINED') await callRpc(anvil.url, 'anvil_mine', [1]).then(() => reach('MINED'));
    await crossing(state, () => blocksBy('clock'));
    await reach('CONFIRMED');
  }
  await until('the server has counted it', async () => (await deadlocks()) > counted);
  await cluster.expectExactlyOnce();
});
