import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ChainConfig, LockstepConfig, type NodeRole } from '../../../src/config/index.js';
import { HeadTracker, NewHeads } from '../../../src/modules/chain/index.js';
import type { ApplyChainUpdate } from '../../../src/modules/confirmations/application/apply-chain-update.js';
import { CheckReceipts } from '../../../src/modules/confirmations/application/check-receipts.js';
import { HeadTrackingDuty } from '../../../src/modules/confirmations/application/head-tracking-duty.js';
import { ConfirmationManager } from '../../../src/modules/confirmations/infrastructure/confirmation-manager.js';
import { ReceiptChecker } from '../../../src/modules/confirmations/infrastructure/receipt-checker.js';
import { LeaseManager } from '../../../src/modules/signers/index.js';
import { HandOver } from '../../../src/modules/lanes/application/hand-over.js';
import { BumpDue } from '../../../src/modules/lanes/application/bump-due.js';
import { FreeNonceGaps } from '../../../src/modules/nonces/index.js';
import { ResendDue } from '../../../src/modules/lanes/application/resend-due.js';
import { HandOverScheduler } from '../../../src/modules/lanes/infrastructure/hand-over-scheduler.js';
import { ResubmitScheduler } from '../../../src/modules/lanes/infrastructure/resubmit-scheduler.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { type Gate, gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { RecordingLog } from '../chain/chain-fixture.js';

type Scheduler = Pick<ReceiptChecker, 'onApplicationBootstrap' | 'onModuleDestroy'>;
/** The use-case that the provider runs. */
type Work = (chainId: number) => Promise<never[]>;

interface Provider {
  readonly name: string;
  readonly intervalMs: number;
  readonly start: (config: LockstepConfig, work: Work, log: RecordingLog) => Scheduler;
}

const NO_GAPS = fakeOf(FreeNonceGaps, { execute: async () => undefined });
const QUIET_BUMPS = fakeOf(BumpDue, { execute: async () => undefined });
const POLL_MS = 700;
const RENEW_MS = 900;

const PROVIDERS: readonly Provider[] = [
  {
    name: 'ReceiptChecker',
    intervalMs: 1_000,
    start: (config, execute, log) =>
      new ReceiptChecker(fakeOf(CheckReceipts, { execute }), NO_GAPS, config, tickersWith(log)),
  },
  {
    name: 'ResubmitScheduler',
    intervalMs: 1_000,
    start: (config, execute, log) =>
      new ResubmitScheduler(
        fakeOf(ResendDue, { execute: async (chainId) => void (await execute(chainId)) }),
        QUIET_BUMPS,
        config,
        tickersWith(log),
      ),
  },
  {
    name: 'HandOverScheduler',
    intervalMs: RENEW_MS,
    start: (config, execute, log) =>
      new HandOverScheduler(
        fakeOf(HandOver, { execute: async (chainId) => void (await execute(chainId)) }),
        config,
        tickersWith(log),
      ),
  },
  {
    name: 'ConfirmationManager',
    intervalMs: POLL_MS,
    start: (config, execute, log) =>
      new ConfirmationManager(
        fakeOf(HeadTracker, { execute: async (chainId) => (await execute(chainId), false) }),
        {} as ApplyChainUpdate,
        fakeOf(NewHeads, { start: () => undefined, latest: () => null }),
        fakeOf(HeadTrackingDuty, { isDue: async () => true }),
        fakeOf(LeaseManager, { onFirstOf: () => undefined }),
        new FakeClock(),
        config,
        tickersWith(log),
      ),
  },
];

describe.each(PROVIDERS)('$name', ({ intervalMs, start }) => {
  let runs: number[];
  let running: number;
  let work: () => Promise<void>;
  let held: Gate;
  let log: RecordingLog;
  let scheduler: Scheduler;

  const begin = (role: NodeRole = 'all'): void => {
    const chain = Object.assign(new ChainConfig(), { id: DEV_CHAIN, pollInterval: POLL_MS });
    const config = Object.assign(new LockstepConfig(), { chains: [chain] });
    config.lease.renewInterval = RENEW_MS;
    config.node.role = role;
    const execute: Work = async (chainId) => {
      runs.push(chainId);
      running += 1;
      try {
        // Two at once, and the test sees it.
        if (running > 1) runs.push(-1);
        await work();
        return [];
      } finally {
        running -= 1;
      }
    };
    scheduler = start(config, execute, log);
    scheduler.onApplicationBootstrap();
  };
  const ran = (times: number): Promise<void> => until(`it ran ${times} times`, async () => runs.length === times);
  /** The work is done, and the timer of the next run is set. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };

  beforeEach(() => {
    [runs, running, held, log] = [[], 0, gate(), new RecordingLog()];
    work = () => Promise.resolve();
  });
  afterEach(async () => {
    jest.useRealTimers();
    held.open();
    await scheduler.onModuleDestroy();
  });

  it('runs at once, and again and again on the timers of the process', async () => {
    begin();
    await until('it ran three times', async () => runs.length >= 3);
    expect(new Set(runs)).toEqual(new Set([DEV_CHAIN]));
  });

  it('runs again when its interval has passed since the end of the last run, and not a millisecond sooner', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    begin();
    for (const times of [1, 2, 3]) {
      await settled();
      expect(runs).toHaveLength(times);
      jest.advanceTimersByTime(intervalMs - 1);
      await settled();
      expect(runs).toHaveLength(times);
      jest.advanceTimersByTime(1);
    }
  });

  it('does not overlap itself: while one run hangs no other begins, and the next is an interval after its end', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    work = () => held.opened;
    begin();
    await settled();
    jest.advanceTimersByTime(10 * intervalMs);
    await settled();
    expect(runs).toEqual([DEV_CHAIN]);
    held.open();
    await settled();
    jest.advanceTimersByTime(intervalMs);
    await settled();
    expect(runs).toEqual([DEV_CHAIN, DEV_CHAIN]);
  });

  it('survives a throw: it says so, and runs again after its interval', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    work = () => Promise.reject(new Error('no answer'));
    begin();
    await settled();
    expect(log.lines.map(({ event }) => event)).toEqual(['ticker.failed']);
    jest.advanceTimersByTime(intervalMs);
    await settled();
    expect(runs).toHaveLength(2);
  });

  it('stops at shutdown: waits for the run in flight, and begins no other', async () => {
    work = () => held.opened;
    begin();
    await ran(1);
    let stopped = false;
    const stopping = scheduler.onModuleDestroy().then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    held.open();
    await stopping;
    jest.advanceTimersByTime(10 * intervalMs);
    await settled();
    expect(runs).toHaveLength(1);
  });

  it('does nothing on a node that does not act', async () => {
    begin('api');
    await settled();
    expect(runs).toEqual([]);
  });
});
