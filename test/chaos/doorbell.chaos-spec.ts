import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryEntry } from '../../src/modules/events/index.js';
import type { Page } from '../../src/platform/http/page-cursor.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { distribution } from '../support/distribution.js';
import { RpcProxy } from '../support/rpc-proxy.js';
import { until } from '../support/until.js';

/** 300 for the numbers of the docs: `DOORBELL_RUNS=300 npm run test:chaos -- doorbell`. */
const RUNS = Number(process.env['DOORBELL_RUNS'] ?? 30);
const POLL_MS = 60_000;
const SIGNERS = DEV_ACCOUNTS.slice(0, 6);

let anvil: RunningAnvil;
/** One for all nodes: it dates what reaches the chain, and the nodes reach the database without a detour. */
let wire: RpcProxy;
let cluster: Cluster;

beforeAll(async () => {
  anvil = await startAnvil({ blockTime: 1 });
  wire = await RpcProxy.listen(anvil.url);
  // Polling, and sending again, come so seldom that only the bell can have carried the news.
  const config = { worker: { pollInterval: `${POLL_MS}ms` }, resubmit: { interval: `${POLL_MS}ms` } };
  cluster = await Cluster.start({ nodes: 3, rpcUrl: wire.url, config });
  await cluster.createMany(SIGNERS, 'warm', 3);
  await cluster.allConfirmed();
});

afterAll(async () => {
  await cluster.stop();
  await wire.stop();
  await anvil.kill();
});

function signerOf(run: number): string {
  return String(SIGNERS[run % SIGNERS.length]);
}

/** Milliseconds from a create at this node to the arrival at the chain, whichever node sends. */
async function createToBroadcast(run: number): Promise<number> {
  const known = wire.sent.length;
  const startedAt = performance.now();
  await cluster.create(signerOf(run), `bell-${run}`, [cluster.node(run % cluster.nodes.length)]);
  await until('it is broadcast', async () => wire.sent.length > known);
  return (wire.sent[known]?.at ?? Number.NaN) - startedAt;
}

/** Tells a bell that was lost from a tx that a node looked at and put off, which only polling takes up again. */
async function historyOf(run: number): Promise<string> {
  const { service } = cluster.node(0);
  const { body } = await service.get(`/api/v1/tx/by-request?signer=${signerOf(run)}&requestId=bell-${run}`);
  const history = await service.get<Page<HistoryEntry>>(`/api/v1/tx/${String(body['txId'])}/history`);
  return JSON.stringify(history.body.items);
}

/** The bell did it, because polling finds work once in a minute; two of three creates arrive where the owner is not. */
it(
  'a create at any node is broadcast by the owner long before polling would have found it',
  async () => {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      times.push(await createToBroadcast(run));
      // The cluster is idle again when the next one comes.
      await sleep(50 + Math.random() * 100);
    }
    process.stdout.write(`create to broadcast on 3 idle nodes, ${distribution(times)}\n`);
    const late = times.flatMap((ms, run) => (ms < POLL_MS / 10 ? [] : [run]));
    // What was logged of leases and failed steps says why.
    const logs = late.length === 0 ? [] : cluster.nodes.flatMap(({ service }) => service.warnings('lease acquired'));
    expect([...(await Promise.all(late.map(historyOf))), ...logs]).toEqual([]);
    const creates = await Promise.all(cluster.nodes.map((node) => node.metric('tx_create_total')));
    for (const count of creates) expect(count).toBeGreaterThanOrEqual(RUNS / cluster.nodes.length);
    await cluster.expectExactlyOnce();
  },
  60_000 + RUNS * 1_000,
);
