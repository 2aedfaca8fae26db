import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { aHash, anAddress, DEV_CHAIN } from '../support/builders.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

const TXS = 1_000;
const EVENTS_OF_EACH = 5;
const ALL = TXS * EVENTS_OF_EACH;

interface Post {
  readonly id: string;
  readonly txId: string;
  readonly event: number;
}

let cluster: Cluster;
const posts: Post[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const { data } = JSON.parse(body) as { data: { txId: string; reason: string } };
    posts.push({ id: String(request.headers['webhook-id']), txId: data.txId, event: Number(data.reason) });
    response.end();
  });
});

afterEach(async () => {
  await cluster.stop();
  server.closeAllConnections();
  server.close();
});

/** Final txs of a signer that no node has, and the events of each in order. */
async function storeEvents(): Promise<void> {
  await cluster.database.query(
    `WITH tx AS (
       INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, failure_reason)
       SELECT gen_random_uuid(), ${DEV_CHAIN}, '${anAddress(9)}', 'request-' || n, '${aHash(1)}', 0, '\\x', '{"speed":"standard"}', 0, 'FAILED', 'test'
         FROM generate_series(1, ${TXS}) n RETURNING tx_id)
     INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, error)
     SELECT ${DEV_CHAIN}, tx.tx_id, 'failed', 'FAILED', 'test', n FROM generate_series(1, ${EVENTS_OF_EACH}) n, tx ORDER BY n`,
  );
}

function firstsOf(txId: string): number[] {
  return [...new Set(posts.filter((post) => post.txId === txId).map(({ event }) => event))];
}

it('every event comes at least once, in order per tx, when the delivering node is killed in the middle of 5,000 deliveries', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  cluster = await Cluster.start({ nodes: 2, config: { webhooks: { allow: ['127.0.0.1/32'], timeout: '2s' } } });
  const { status } = await cluster.node(1).service.post('/api/v1/webhooks', { url: `http://127.0.0.1:${port}/` });
  expect(status).toBe(201);
  await storeEvents();
  await until('a fifth has come', async () => posts.length > ALL / 5);
  const counted = await Promise.all(cluster.nodes.map((node) => node.metric('webhook_deliveries_total', 'delivered')));
  const delivering = (counted[1] ?? 0) > (counted[0] ?? 0) ? 1 : 0;
  expect(counted[delivering]).toBeGreaterThan(0);
  expect(await cluster.node(delivering).kill()).toEqual({ code: null, signal: 'SIGKILL' });
  const atKill = posts.length;
  expect(atKill).toBeLessThan(ALL);
  await until('every event has come', async () => new Set(posts.map(({ id }) => id)).size === ALL);
  await until('every delivery is recorded', async () => {
    const [row] = await cluster.database.query<{ left: number }>(
      `SELECT count(*)::int AS left FROM webhook_delivery WHERE status <> 'delivered'`,
    );
    return row?.left === 0;
  });
  process.stdout.write(
    `killed after ${atKill} posts; ${posts.length - ALL} of ${ALL} came twice, with the same webhook-id\n`,
  );
  const ids = new Map(posts.map(({ id, txId, event }) => [`${txId} ${event}`, id]));
  expect(posts.every(({ id, txId, event }) => ids.get(`${txId} ${event}`) === id)).toBe(true);
  for (const txId of new Set(posts.map((post) => post.txId))) expect(firstsOf(txId)).toEqual([1, 2, 3, 4, 5]);
});
