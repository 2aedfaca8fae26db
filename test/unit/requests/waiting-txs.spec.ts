import { beforeEach, expect, it } from '@jest/globals';
import { LimitsConfig } from '../../../src/config/index.js';
import { ANYONE, DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { TxQueue, type WaitingQueue } from '../../../src/modules/ledger/index.js';
import { Router } from '../../../src/modules/signers/index.js';
import { WaitingTxs } from '../../../src/modules/requests/application/waiting-txs.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

let config: LimitsConfig;
let limits: AccountLimits;
let clock: FakeClock;
let metrics: FakeMetrics;
/** What waits in the database of every queue. */
let stored: number;
let asked: (readonly WaitingQueue[])[];
let waiting: WaitingTxs;

beforeEach(() => {
  [config, clock, metrics, stored, asked] = [new LimitsConfig(), new FakeClock(), new FakeMetrics(), 0, []];
  limits = new AccountLimits(config, metrics);
  const queue = fakeOf(TxQueue, {
    countWaiting: async (queues) => {
      asked.push(queues);
      return queues.map(({ upTo }) => Math.min(upTo, stored));
    },
  });
  const router = fakeOf(Router, { isServed: (signer) => signer.chainId === aSigner().chainId });
  waiting = new WaitingTxs(config, limits, clock, router, queue);
});

/** So many come at once. @returns how many may be created */
async function admit(count: number, account = 'shop', signer = aSigner()): Promise<number> {
  const asking = Array.from({ length: count }, () => waiting.assertRoom({ signer, sender: { ...ANYONE, account } }));
  return (await Promise.allSettled(asking)).filter(({ status }) => status === 'fulfilled').length;
}

it('nothing is counted without a limit', async () => {
  expect([await admit(10), asked]).toEqual([10, []]);
});

it('what comes together shares what is left of the limit of its account, and of its signer', async () => {
  config.account.waitingTxs = 10;
  stored = 7;
  expect(await admit(10)).toBe(3);
  config.signer.waitingTxs = 8;
  expect(await admit(10)).toBe(1);
  expect(metrics.counted('limited_total')).toEqual({ waiting_txs: 7, signer_waiting_txs: 9 });
  expect(asked.map((queues) => queues.length)).toEqual([1, 2]);
});

it('what one request brings has room whole, or not at all', async () => {
  config.account.waitingTxs = 10;
  stored = 7;
  const bring = (more: number) =>
    waiting.assertRoom({ signer: aSigner(), sender: { ...ANYONE, account: 'shop' } }, more);
  await expect(bring(4)).rejects.toMatchObject({ code: 'rate_limited' });
  await bring(3);
  stored = 0;
  await bring(4);
  // What was admitted counts, without another look.
  expect([await admit(1), asked.length]).toEqual([1, 3]);
});

it('the account of the operators is limited by its signers alone', async () => {
  config.account.waitingTxs = 1;
  expect([await admit(3, DEFAULT_ACCOUNT), asked]).toEqual([3, []]);
  config.signer.waitingTxs = 2;
  expect(await admit(3, DEFAULT_ACCOUNT)).toBe(2);
});

it('a signer that does not exist costs no count, takes no room, and is not refused for others', async () => {
  config.account.waitingTxs = 2;
  config.signer.waitingTxs = 2;
  const stranger = { ...aSigner(), chainId: aSigner().chainId + 1 };
  expect([await admit(9, 'shop', stranger), asked]).toEqual([9, []]);
  expect(await admit(3)).toBe(2);
  stored = 2;
  expect([await admit(1), await admit(1, 'shop', stranger)]).toEqual([0, 1]);
});

it('an account has its own limit', async () => {
  config.account.waitingTxs = 1;
  limits.update(new Map([['large', { waitingTxs: 5 }]]));
  expect([await admit(9, 'large'), await admit(9, 'small')]).toEqual([5, 1]);
});

it('far below the limit one count is enough for a second; near to it each request is counted again', async () => {
  config.account.waitingTxs = 10;
  for (let n = 0; n < 5; n += 1) await admit(1);
  expect(asked).toHaveLength(1);
  stored = 9;
  expect([await admit(1), await admit(1)]).toEqual([1, 1]);
  stored = 10;
  expect([await admit(1), await admit(1)]).toEqual([0, 0]);
  expect(asked).toHaveLength(5);
  stored = 0;
  await admit(1);
  clock.advance(1_000);
  await admit(1);
  expect(asked).toHaveLength(7);
});
