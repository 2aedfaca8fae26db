import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { RestartablePostgres } from '../support/restartable-postgres.js';
import { until } from '../support/until.js';

const POOL = 3;

let postgres: RestartablePostgres;
let cluster: Cluster;

beforeAll(async () => {
  postgres = await RestartablePostgres.start();
  cluster = await Cluster.start({
    nodes: 2,
    databaseUrl: postgres.url,
    viaProxies: true,
    config: { database: { poolSize: POOL } },
  });
});

afterEach(() => {
  for (const { links } of cluster.nodes) links.database.heal();
});

afterAll(async () => {
  await cluster.stop();
  await postgres.discard();
});

function signers(from: number): readonly string[] {
  return DEV_ACCOUNTS.slice(from, from + 2);
}

/** The fault happened, because the server has another pid afterwards, and every node is still the process it was. */
it.each([
  { how: 'stop' as const, from: 0 },
  { how: 'kill' as const, from: 2 },
])('a PostgreSQL that restarts under load ($how) loses nothing', async ({ how, from }) => {
  const nodes = cluster.nodes.map(({ service }) => service.pid);
  const { pid } = postgres;
  const creates = cluster.createMany(signers(from), how, 150);
  await until('some are in flight', async () => ((await cluster.database.countByState(how))['IN_MEMPOOL'] ?? 0) > 0);
  await postgres.restart(how);
  expect(postgres.pid).not.toBe(pid);
  await creates;
  await cluster.expectExactlyOnce();
  expect(cluster.nodes.map(({ service }) => service.pid)).toEqual(nodes);
  expect(cluster.nodes.every(({ service }) => service.running)).toBe(true);
});

/**
 * The fault happened, because PostgreSQL says of each connection it ended that it was inside a transaction that had its id,
 * so had locked its leases; and the proxies count their resets.
 */
it('connections that are lost inside a transaction lose nothing', async () => {
  const creates = cluster.createMany(signers(4), 'lost', 300);
  // Late answers keep transactions open long enough to be caught in the middle.
  for (const { links } of cluster.nodes) links.database.delay(5);
  let ended = 0;
  await until('ten transactions were cut in the middle', async () => {
    const rows = await cluster.database.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL
          AND state IN ('active', 'idle in transaction')`,
    );
    ended += rows.length;
    if (rows.length > 0) for (const { links } of cluster.nodes) links.database.resetAll();
    await cluster.createMany(signers(4), `more-${performance.now()}`, 1);
    return ended >= 10;
  });
  expect(cluster.nodes.reduce((sum, { links }) => sum + links.database.counters.resets, 0)).toBeGreaterThan(0);
  for (const { links } of cluster.nodes) links.database.heal();
  await creates;
  await cluster.expectExactlyOnce();
});

/** The fault happened, because every connection of both pools is seen waiting for the same lock. */
it('pools without a free connection delay requests, and lose none', async () => {
  const { database } = cluster;
  const creates = cluster.createMany(signers(6), 'exhausted', 100);
  const locked = database.query(
    `DO $$ BEGIN LOCK TABLE managed_tx IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(3); END $$`,
  );
  let most = 0;
  await Promise.all([
    locked,
    until('every connection waits', async () => {
      const [row] = await database.query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      most = Math.max(most, row?.waiting ?? 0);
      return most >= cluster.nodes.length * POOL;
    }),
  ]);
  await creates;
  await cluster.expectExactlyOnce();
});

/** The fault happened, because the proxies count the chunks they have delayed. */
it('a database that takes 100 ms for every answer slows the work down, and breaks nothing', async () => {
  for (const { links } of cluster.nodes) links.database.delay(50);
  await cluster.createMany(signers(8), 'slow', 50);
  for (const { links } of cluster.nodes) expect(links.database.counters.delayed).toBeGreaterThan(50);
  await cluster.expectExactlyOnce();
});
