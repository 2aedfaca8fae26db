import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig, WorkerConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { LeaseManager, Router } from '../../../src/modules/signers/index.js';
import type { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { LaneStep } from '../../../src/modules/lanes/application/lane-step.js';
import { SignerWorkers } from '../../../src/modules/signers/application/signer-workers.js';
import type { TxQueue } from '../../../src/modules/ledger/index.js';
import { LaneScheduler } from '../../../src/modules/lanes/infrastructure/lane-scheduler.js';
import { SystemClock } from '../../../src/platform/system-clock.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { until } from '../../support/until.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { KeysOf } from '../../support/fakes/fake-node.js';

const SIGNERS = Array.from({ length: 40 }, (_, n) => aSigner(n + 1));

/** A step of which some signers fail whatever shares it with them. */
class FakeStep {
  readonly steps: (readonly SignerId[])[] = [];
  readonly stepped = new Map<string, number>();
  failing: readonly SignerId[] = [];

  async step(_chain: unknown, signers: readonly SignerId[]): Promise<SignerId[]> {
    this.steps.push(signers);
    if (signers.some((signer) => this.failing.includes(signer)))
      throw new Unavailable('database_unavailable', 'statement timeout', 'try again');
    for (const signer of signers) this.stepped.set(signerKey(signer), this.stepsOf(signer) + 1);
    return [];
  }

  stepsOf(signer: SignerId): number {
    return this.stepped.get(signerKey(signer)) ?? 0;
  }
}

describe('the lanes of one worker', () => {
  let step: FakeStep;
  let scheduler: LaneScheduler;

  beforeEach(() => {
    step = new FakeStep();
    scheduler = schedulerOf(step);
  });
  afterEach(() => scheduler.onModuleDestroy());

  it('all step although the step of one of them throws for ever', async () => {
    step.failing = SIGNERS.slice(0, 1);
    scheduler.onApplicationBootstrap();
    await until('the healthy ones stepped', async () => SIGNERS.slice(1).every((signer) => step.stepsOf(signer) >= 3));
  });

  it('all step although the steps of several throw, wherever they stand in the queue', async () => {
    step.failing = SIGNERS.filter((_, n) => n % 7 === 0);
    const healthy = SIGNERS.filter((signer) => !step.failing.includes(signer));
    scheduler.onApplicationBootstrap();
    await until('the healthy ones stepped', async () => healthy.every((signer) => step.stepsOf(signer) >= 3));
  });

  it('step again when what failed for all of them is over, and share steps again', async () => {
    step.failing = SIGNERS;
    scheduler.onApplicationBootstrap();
    await until('several steps failed', async () => step.steps.length >= 4);
    step.failing = [];
    await until('all stepped', async () => SIGNERS.every((signer) => step.stepsOf(signer) >= 1));
    await until('they share steps', async () => step.steps.slice(-9).some((share) => share.length === 16));
  });

  it('are not tried one after the other while everything fails', async () => {
    step.failing = SIGNERS;
    scheduler.onApplicationBootstrap();
    await until('several steps failed', async () => step.steps.length >= 3);
    const began = performance.now();
    const before = step.steps.length;
    await until('three more failed', async () => step.steps.length >= before + 3);
    // Rests of 400, 800 and 1,600 ms; without them the poll of 5 ms would have had dozens.
    expect(performance.now() - began).toBeGreaterThan(700);
  });

  it('begin no step when a shutdown has begun, whoever rings for them', async () => {
    const tickers = tickersWith(new RecordingLog());
    const ending = schedulerOf(step, tickers);
    void tickers.shutDown();
    ending.wake(SIGNERS);
    await nextTurn();
    expect(step.steps).toEqual([]);
    await ending.onModuleDestroy();
  });
});

/** One worker, and polling that finds work for every signer. */
function schedulerOf(step: FakeStep, tickers = tickersWith(new RecordingLog())): LaneScheduler {
  const worker = Object.assign(new WorkerConfig(), { concurrency: 1, pollInterval: 5 });
  const chain = Object.assign(new ChainConfig(), { id: DEV_CHAIN });
  const config = Object.assign(new LockstepConfig(), { chains: [chain], worker });
  const work = SIGNERS.map((signer) => ({ signer, hasPending: true, lease: 'free' }));
  return new LaneScheduler(
    step as unknown as LaneStep,
    { get: () => ({}) } as unknown as Chains,
    new SignerWorkers(worker, new KeysOf([])),
    { signersWithWork: async () => work } as unknown as TxQueue,
    { workSeen: () => undefined, held: () => ({}), heldOn: () => [], isOurs: () => true } as unknown as LeaseManager,
    { needsStep: () => false } as unknown as LaneMemory,
    {} as Router,
    new FakeMetrics(),
    new SystemClock(),
    new RecordingLog(),
    config,
    tickers,
  );
}
