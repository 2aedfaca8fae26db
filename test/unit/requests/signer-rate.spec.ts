import { beforeEach, expect, it } from '@jest/globals';
import { LimitsConfig } from '../../../src/config/index.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { Router } from '../../../src/modules/signers/index.js';
import { SignerRate } from '../../../src/modules/requests/application/signer-rate.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { RateLimited } from '../../../src/platform/limits/rate-limited.js';
import { ServingNodes } from '../../../src/platform/limits/serving-nodes.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

let config: LimitsConfig;
let clock: FakeClock;
let nodes: ServingNodes;
let metrics: FakeMetrics;
let rate: SignerRate;

beforeEach(() => {
  [config, clock, nodes, metrics] = [new LimitsConfig(), new FakeClock(), new ServingNodes(), new FakeMetrics()];
  const router = fakeOf(Router, { isServed: (signer) => signer.chainId === aSigner().chainId });
  rate = new SignerRate(config, nodes, clock, new AccountLimits(config, metrics), router);
});

let [isStored, lookUps] = [false, 0];
const isRepeated = async () => ((lookUps += 1), isStored);
beforeEach(() => {
  [isStored, lookUps] = [false, 0];
});

/** @returns how many of so many may be created, and the seconds that the last refusal says */
async function take(signer: SignerId, count: number): Promise<[number, number | null]> {
  let [taken, seconds] = [0, null as number | null];
  for (let n = 0; n < count; n += 1)
    try {
      await rate.take(signer, isRepeated);
      taken += 1;
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      seconds = error.retryAfterSeconds;
    }
  return [taken, seconds];
}

it('a signer has no limit by default', async () => {
  expect(await take(aSigner(1), 1_000)).toEqual([1_000, null]);
  expect(lookUps).toBe(0);
});

it('a signer has its rate and what is saved up of it, beside others, and passes again when its refusal says so', async () => {
  config.signer.txsPerSecond = 1;
  nodes.seen(2);
  expect(await take(aSigner(1), 10)).toEqual([2, 1]);
  expect(await take(aSigner(2), 2)).toEqual([2, null]);
  expect(metrics.counted('limited_total')).toEqual({ signer_txs: 8 });
  clock.advance(1_000);
  expect(await take(aSigner(1), 10)).toEqual([1, 2]);
});

it('what comes at once passes whole, or not at all, and what comes next waits for it', async () => {
  config.signer.txsPerSecond = 1;
  await rate.take(aSigner(1), isRepeated, 100);
  await expect(rate.take(aSigner(1), isRepeated, 2)).rejects.toBeInstanceOf(RateLimited);
  clock.advance(90_000);
  expect(await take(aSigner(1), 1)).toEqual([0, expect.any(Number)]);
});

it('what is used of a signer is not forgotten for others that do not exist, however many somebody names', async () => {
  config.signer.txsPerSecond = 1;
  expect(await take(aSigner(1), 10)).toEqual([5, 1]);
  for (let n = 1; n <= 10_001; n += 1) await rate.take({ ...aSigner(n), chainId: aSigner().chainId + 1 }, isRepeated);
  expect(await take(aSigner(1), 10)).toEqual([0, 1]);
});

it('a refusal says what the signer may at all nodes, and what is left of it at this one', async () => {
  config.signer.txsPerSecond = 1;
  nodes.seen(2);
  await take(aSigner(1), 2);
  await expect(rate.take(aSigner(1), isRepeated)).rejects.toMatchObject({
    quota: { policy: '"signer_txs";q=5;w=5', left: '"signer_txs";r=0;t=4' },
  });
});

it('a repeated request costs nothing, and passes when nothing is left', async () => {
  config.signer.txsPerSecond = 1;
  isStored = true;
  expect(await take(aSigner(1), 10)).toEqual([10, null]);
  isStored = false;
  expect(await take(aSigner(1), 10)).toEqual([5, 1]);
  isStored = true;
  expect(await take(aSigner(1), 10)).toEqual([10, null]);
});
