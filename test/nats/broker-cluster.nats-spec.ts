import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { NatsServer, type StreamMessage } from '../support/nats-server.js';
import { until } from '../support/until.js';

const STREAM = 'LOCKSTEP';
const SIGNERS = DEV_ACCOUNTS.slice(0, 4);
const TXS_OF_EACH = 250;
const TXS_WITHOUT_BROKER = 25;
/** What a tx that goes well tells, in this order. */
const LIFE = ['tx.accepted', 'tx.submitted', 'tx.receipt_updated', 'tx.confirmations', 'tx.confirmed'];

let server: NatsServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await NatsServer.start();
  const broker = { type: 'nats', urls: [server.url], stream: STREAM, createStream: true };
  cluster = await Cluster.start({ nodes: 2, config: { broker } });
});
afterAll(async () => {
  await cluster.stop();
  await server.stop();
});

/** The node that has the claim now. */
async function feeder(): Promise<ClusterNode | null> {
  const [row] = await cluster.database.query<{ url: string }>(
    `SELECT n.advertised_url AS url FROM event_reader r JOIN node n ON n.node_id = r.claimed_by
      WHERE r.name = 'broker' AND r.claimed_until > clock_timestamp()`,
  );
  return cluster.nodes.find((node) => node.answers && node.service.url === row?.url) ?? null;
}

/** All events of these txs, as the stream has them, by tx. */
async function eventsByTx(): Promise<Map<string, StreamMessage[]>> {
  const byTx = new Map<string, StreamMessage[]>();
  for (const message of await server.messagesOf(STREAM)) {
    const txId = String(message.body.data['txId']);
    byTx.set(txId, [...(byTx.get(txId) ?? []), message]);
  }
  return byTx;
}

async function expectWholeLives(total: number): Promise<void> {
  const expected = LIFE.length * total;
  await until(`the stream has ${expected} events`, async () => (await server.countOf(STREAM)) >= expected);
  const byTx = await eventsByTx();
  expect(byTx.size).toBe(total);
  const wrong = [...byTx].filter(([, events]) => lifeOf(events) !== LIFE.join());
  expect(wrong.map(([txId, events]) => `${txId}: ${lifeOf(events)}`)).toEqual([]);
  const ids = [...byTx.values()].flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
}

/** Bumps of a price say `tx.submitted` once more. */
function lifeOf(events: readonly StreamMessage[]): string {
  const types = events.map(({ type }) => type);
  return types.filter((type, n) => type !== 'tx.submitted' || types.indexOf(type) === n).join();
}

/** `nodes`: those that live; the counters of a killed one are gone with it. */
async function dropped(nodes: readonly ClusterNode[]): Promise<number> {
  const counts = await Promise.all(nodes.map((node) => node.metric('broker_events_total', 'duplicate')));
  return counts.reduce((sum, count) => sum + count, 0);
}

it('a kill -9 of the feeding node and of the broker lose no event and no order, and the rest goes on', async () => {
  await until('a node has the claim', async () => (await feeder()) !== null);
  const first = await feeder();
  if (first === null) throw new Error('no node feeds the broker');
  const created = cluster.createMany(SIGNERS, 'nats', TXS_OF_EACH);
  const total = SIGNERS.length * TXS_OF_EACH;

  await until('some events are stored', async () => (await server.countOf(STREAM).catch(() => 0)) > total);
  expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(await server.countOf(STREAM)).toBeLessThan(LIFE.length * total);
  await until('another node has the claim', async () => {
    const next = await feeder();
    return next !== null && next !== first;
  });
  const stored = await server.countOf(STREAM);
  await until('the next node publishes', async () => (await server.countOf(STREAM)) > stored);
  const duplicates = await dropped(cluster.nodes.filter(({ answers }) => answers));

  await created;
  await server.kill();
  await cluster.createMany(SIGNERS, 'without a broker', TXS_WITHOUT_BROKER);
  await cluster.allConfirmed();
  const next = cluster.nodes.find(({ answers }) => answers);
  await until('the loss is shown', async () => (await next?.metric('broker_connected')) === 0);
  await server.boot();
  await expectWholeLives(total + SIGNERS.length * TXS_WITHOUT_BROKER);
  const later = await dropped(cluster.nodes.filter(({ answers }) => answers));
  process.stdout.write(
    `${await server.countOf(STREAM)} events of ${total} txs; the server dropped ${duplicates} duplicates after the kill of the node ` +
      `and ${later - duplicates} after its own\n`,
  );
  await until('nothing is behind', async () => (await next?.metric('broker_lag_events')) === 0);
  expect(next?.service.logged('broker takes no events').length).toBe(1);
});

it('a node that ends passes the claim on at once', async () => {
  await Promise.all(cluster.nodes.filter(({ answers }) => !answers).map((node) => node.start()));
  await until('a node has the claim', async () => (await feeder()) !== null);
  expect(await (await feeder())?.stop()).toBe(0);
  await until('the other node has the claim', async () => (await feeder()) !== null, 5_000);
});
