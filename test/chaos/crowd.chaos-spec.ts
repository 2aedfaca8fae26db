import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { StatementCounter } from '../support/statement-counter.js';
import { until } from '../support/until.js';

const IDLE = 10_000;
const WAITING = 100_000;
const WINDOW_MS = 5_000;
const [CROWDED, QUIET] = DEV_ACCOUNTS;

const statements = new StatementCounter();
let anvil: RunningAnvil;
let cluster: Cluster;

beforeAll(async () => {
  // Its own accounts are few: the idle ones need no money.
  anvil = await startAnvil({ blockTime: 1 });
  // One node, with the intervals of production: what is counted is what an operator would see. Its keys are all real.
  const config = {
    lease: { duration: '10s', renewInterval: '3s', clockSkewAllowance: '1s' },
    worker: { pollInterval: '1s' },
    execution: { maxInFlight: 64 },
  };
  const options = { nodes: 1, viaProxies: true, databaseTap: statements.tap, config, chain: { pollInterval: '1s' } };
  cluster = await Cluster.start({ ...options, accounts: IDLE, rpcUrl: anvil.url });
});

afterAll(async () => {
  await cluster.stop();
  await anvil.stop();
});

/** The crowd is there, because the database counts it: signers with keys on this node, and leases that have expired. */
it('10,000 idle signers with expired leases cost a node fewer than 10 statements per second', async () => {
  const { database } = cluster;
  await database.query(
    `INSERT INTO signer_lease (chain_id, signer, owner_node, fencing_token, acquired_at, expires_at, updated_at)
     SELECT chain_id, address, 'gone', 7, now() - interval '1 day', now() - interval '1 day', now() FROM signer`,
  );
  const [crowd] = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM signer_lease l JOIN signer s ON s.address = l.signer WHERE expires_at < now()',
  );
  expect(crowd?.count).toBe(IDLE);
  const before = statements.count;
  await sleep(WINDOW_MS);
  const rate = ((statements.count - before) / WINDOW_MS) * 1_000;
  process.stdout.write(`10,000 idle signers: ${rate.toFixed(1)} statements per second\n`);
  // The count is real: an idle node still looks for work every second.
  expect(rate).toBeGreaterThan(0);
  expect(rate).toBeLessThan(10);
});

/** The queue is there, because the database counts it; it is worked off in order, and within maxInFlight. */
it('100,000 waiting transactions of one signer leave another one as quick as before', async () => {
  const { database } = cluster;
  await database.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state)
     SELECT gen_random_uuid(), 31337, $1, 'waiting-' || n, '0x' || lpad(to_hex(n), 64, '0'), $2, 0, '', '{"speed": "standard", "gasLimit": "30000"}', 0, 'PENDING'
       FROM generate_series(1, ${WAITING}) AS n`,
    [CROWDED.toLowerCase(), QUIET.toLowerCase()],
  );
  await until('the crowded lane works', async () => ((await database.countByState())['CONFIRMED'] ?? 0) > 0);
  const times: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const startedAt = performance.now();
    await cluster.create(QUIET, `quick-${n}`);
    await until('it is sent', async () => {
      const states = await database.countByState(`quick-${n}`);
      return states['PENDING'] === undefined && states['ALLOCATED'] === undefined;
    });
    times.push(Math.round(performance.now() - startedAt));
  }
  const before = statements.count;
  await sleep(WINDOW_MS);
  const rate = ((statements.count - before) / WINDOW_MS) * 1_000;
  const states = await database.countByState();
  process.stdout.write(
    `${states['PENDING'] ?? 0} waiting: ${rate.toFixed(1)} statements per second; another signer sends after ${times.join(', ')} ms\n`,
  );
  expect(states['PENDING'] ?? 0).toBeGreaterThan(WAITING / 2);
  expect((states['ALLOCATED'] ?? 0) + (states['IN_MEMPOOL'] ?? 0)).toBeLessThanOrEqual(64 + times.length);
  // Behind the others it would have to wait for a thousand blocks and more.
  expect(Math.max(...times)).toBeLessThan(20_000);
  expect(rate).toBeLessThan(500);
  expect(await database.sharedSlots()).toEqual([]);
});
