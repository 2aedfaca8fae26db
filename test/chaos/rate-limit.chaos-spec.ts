import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { RpcFront } from '../support/rpc-front.js';

/** Requests per second; what a node sends when nothing is refused is in the same order. */
const NO_STORM = 40;

let anvil: RunningAnvil;
let front: RpcFront;
let cluster: Cluster;

beforeAll(async () => {
  anvil = await startAnvil({ blockTime: 1 });
  front = await RpcFront.listen(anvil.url, {});
  cluster = await Cluster.start({ nodes: 1, rpcUrl: anvil.url, chain: { rpcUrls: [front.url] } });
});

afterAll(async () => {
  await cluster.stop();
  await front.stop();
  await anvil.kill();
});

it('a node of whose requests nine of ten are refused for their rate gets every transaction on chain once, and makes no storm', async () => {
  const before = front.requests;
  const start = performance.now();
  const random = seeded(5);
  front.rules.refuses = () => random() < 0.9;
  await cluster.createMany(DEV_ACCOUNTS.slice(0, 4), 'refused', 25);
  await cluster.allConfirmed(600_000);
  const seconds = (performance.now() - start) / 1_000;
  const requests = front.requests - before;
  const perSecond = requests / seconds;
  process.stdout.write(
    `429 for ${front.refused} of ${requests} requests in ${seconds.toFixed(0)} s: ${perSecond.toFixed(1)} per second\n`,
  );
  front.rules.refuses = () => false;
  await cluster.expectExactlyOnce();
  expect(front.refused / requests).toBeGreaterThan(0.8);
  expect(perSecond).toBeLessThan(NO_STORM);
}, 900_000);

/** mulberry32: the same refusals in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
