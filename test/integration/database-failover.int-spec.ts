import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseWatch } from '../../src/platform/database/database-watch.js';
import { runMigrations } from '../../src/platform/database/migrations.js';
import { checkServer } from '../../src/platform/database/session.js';
import { ModelChain } from '../support/model-chain.js';
import { RestartablePostgres } from '../support/restartable-postgres.js';
import { aRequest } from '../support/builders.js';
import { tagged } from '../support/send-faults.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const CONFIG = { confirmations: { required: 2, staleReceiptTimeout: '1ms' }, lease: { duration: '10m' } };

let server: RestartablePostgres;
let chain: ModelChain;
let nodes: TestNode[];

beforeEach(async () => {
  server = await RestartablePostgres.start();
  await runMigrations(server.url);
  chain = new ModelChain();
  nodes = [];
});

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await server.discard();
});

async function start(): Promise<TestNode> {
  const node = await TestNode.start(server.url, chain, CONFIG);
  nodes.push(node);
  return node;
}

async function create(node: TestNode, tag: number): Promise<string> {
  const { payload, ...rest } = aRequest();
  const request = { ...rest, signer: node.signer(), requestId: `request-${tag}` };
  return (await node.create({ ...request, payload: { ...payload, data: tagged(tag) } })).txId;
}

/** Also of a server that is still recovering, and takes no writes yet. */
async function heartbeat(node: TestNode): Promise<void> {
  await until('the database is looked at', async () => {
    const look = node.get(DatabaseWatch).check();
    return look.then(
      () => true,
      () => false,
    );
  });
}

async function epochs(node: TestNode): Promise<string[]> {
  const { rows } = await node
    .get(Database)
    .query<{ evidence: string }>(
      { name: 'test_epochs', text: 'SELECT evidence FROM database_epoch ORDER BY epoch' },
      [],
    );
  return rows.map(({ evidence }) => evidence);
}

async function finish(node: TestNode, txIds: readonly string[]): Promise<void> {
  await until('all are final', async () => {
    await node.step().catch(() => undefined);
    chain.mine();
    chain.mineEmpty(2);
    await node.follow();
    await node.checkReceipts();
    const txs = await Promise.all(txIds.map((txId) => node.tx(txId)));
    return txs.every(({ state }) => state === 'CONFIRMED');
  });
}

function timesMined(...tags: readonly number[]): number[] {
  return tags.map((tag) => chain.minedTxs().filter(({ data }) => data === tagged(tag)).length);
}

it.each([
  ['an older copy of the server is promoted', true, 'new_timeline'],
  ['an older copy of the data is put back', false, 'log_went_backwards'],
])('executes every payload once when %s', async (_, promoted, evidence) => {
  const node = await start();
  await create(node, 0);
  await node.step();
  const txIds = [await create(node, 1), await create(node, 2)];
  await server.keepCopy();
  await node.step();
  await heartbeat(node);
  await server.fallBack({ promoted });
  await heartbeat(node);
  txIds.push(await create(node, 3));
  await finish(node, txIds);
  expect(await epochs(node)).toEqual(expect.arrayContaining(['first', evidence]));
  expect(timesMined(0, 1, 2, 3)).toEqual([1, 1, 1, 1]);
});

it('is noticed by a node that starts after the failover', async () => {
  const node = await start();
  await node.step();
  const txIds = [await create(node, 1)];
  await server.keepCopy();
  await node.step();
  await node.releaseLeases();
  await server.fallBack({ promoted: true });
  await until('it takes writes', () =>
    checkServer(server.url, 5_000).then(
      () => true,
      () => false,
    ),
  );
  const next = await start();
  await next.get(Database).query({ name: 'test_expire', text: `UPDATE signer_lease SET expires_at = '-infinity'` }, []);
  txIds.push(await create(next, 2));
  await finish(next, txIds);
  expect(await epochs(next)).toEqual(['first', 'new_timeline']);
  expect(timesMined(1, 2)).toEqual([1, 1]);
});
