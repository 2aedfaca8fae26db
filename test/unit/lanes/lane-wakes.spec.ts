import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ChainConfig, LockstepConfig, NodeConfig, WorkerConfig } from '../../../src/config/index.js';
import { type ChainId, type SignerId, signerKey } from '../../../src/kernel/signer-id.js';
import type { LeaseManager, Router } from '../../../src/modules/signers/index.js';
import type { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { ChainConnector, Chains } from '../../../src/modules/chain/index.js';
import type { LaneStep } from '../../../src/modules/lanes/application/lane-step.js';
import { SignerWorkers } from '../../../src/modules/signers/application/signer-workers.js';
import type { TxQueue } from '../../../src/modules/ledger/index.js';
import { LaneScheduler } from '../../../src/modules/lanes/infrastructure/lane-scheduler.js';
import { EventLoopLoad } from '../../../src/platform/scheduling/event-loop-load.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import type { Tickers } from '../../../src/platform/scheduling/tickers.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { type SignerWork } from '../../../src/modules/ledger/domain/tx-queue.js';
import { KeysOf } from '../../support/fakes/fake-node.js';

const OTHER_CHAIN = DEV_CHAIN + 1;
const SIGNERS = Array.from({ length: 20 }, (_, n) => aSigner(n + 1));
const [ONE, TWO, THREE] = [aSigner(1), aSigner(2), aSigner(3)];

/** Steps that go on until the test ends them. */
class HeldSteps {
  readonly shares: (readonly SignerId[])[] = [];
  mostAtOnce = 0;
  private readonly running: { end: (more: SignerId[]) => void; fail: (error: Error) => void; chain: ChainId }[] = [];

  step({ chainId: chain }: ChainConnector, signers: readonly SignerId[]): Promise<SignerId[]> {
    this.shares.push(signers);
    return new Promise((end, fail) => {
      this.running.push({ end, fail, chain });
      this.mostAtOnce = Math.max(this.mostAtOnce, this.running.length);
    });
  }

  get count(): number {
    return this.running.length;
  }

  async end(more: SignerId[] = []): Promise<void> {
    this.running.shift()?.end(more);
    await settled();
  }

  async fail(): Promise<void> {
    this.running.shift()?.fail(new Error('the step failed'));
    await settled();
  }
}

/** What was said to router and leases. */
interface Calls {
  readonly served: SignerId[];
  readonly unserved: [SignerId, boolean][];
  readonly seen: [readonly SignerId[], readonly ChainId[] | undefined][];
}

/** Lets the test say when polling looks. */
class PolledByHand extends LaneScheduler {
  poll(chainId = DEV_CHAIN): Promise<void> {
    return super.tick(chainId);
  }
}

let steps: HeldSteps;
let clock: FakeClock;
let calls: Calls;
let metrics: FakeMetrics;
let work: SignerWork[];
let held: ReadonlySet<string>;
let owing: ReadonlySet<string>;
let foreign: ReadonlySet<string>;
let looks: string[];
let onLook: () => void;
let log: RecordingLog;
let lanes: PolledByHand;
let tickers: Tickers;

beforeEach(() => {
  jest.spyOn(EventLoopLoad.prototype, 'current').mockReturnValue(0);
  [steps, clock, metrics, log] = [new HeldSteps(), new FakeClock(), new FakeMetrics(), new RecordingLog()];
  calls = { served: [], unserved: [], seen: [] };
  [work, looks, onLook] = [[], [], () => undefined];
  held = owing = foreign = new Set();
  tickers = tickersWith(log);
  lanes = lanesWith({});
});
afterEach(async () => {
  jest.useRealTimers();
  const ended = lanes.onModuleDestroy();
  while (steps.count > 0) await steps.end();
  await ended;
});

describe('waking', () => {
  it('steps in the order of the bells, and whoever rang during a step is in the next', async () => {
    lanes.wake([ONE]);
    await settled();
    lanes.wake([THREE, TWO]);
    lanes.wake([ONE, TWO]);
    await settled();
    expect(steps.shares).toEqual([[ONE]]);
    await steps.end();
    expect(steps.shares).toEqual([[ONE], [THREE, TWO, ONE]]);
    await steps.end();
    expect(steps.shares).toHaveLength(2);
  });

  it('gives everybody a step, however many rang at once', async () => {
    lanes.wake(SIGNERS);
    await settled();
    await steps.end();
    await steps.end();
    expect(steps.shares).toEqual([SIGNERS.slice(0, 16), SIGNERS.slice(16)]);
  });

  it('steps again with those that a step was not enough for', async () => {
    lanes.wake([ONE, TWO]);
    await settled();
    await steps.end([TWO]);
    expect(steps.shares).toEqual([[ONE, TWO], [TWO]]);
  });

  it('never runs two steps of one worker at once', async () => {
    for (const signer of SIGNERS) lanes.wake([signer]);
    await settled();
    while (steps.count > 0) await steps.end();
    expect(steps.mostAtOnce).toBe(1);
  });

  it('runs the steps of two workers side by side, and no more than there are workers', async () => {
    lanes = lanesWith({ concurrency: 2 });
    lanes.wake(SIGNERS);
    lanes.wake(SIGNERS);
    await settled();
    expect(steps.count).toBe(2);
    while (steps.count > 0) await steps.end();
    expect(steps.mostAtOnce).toBe(2);
    expect(new Set(steps.shares.flat().map(signerKey)).size).toBe(SIGNERS.length);
  });

  it('lets a chain step whose neighbour hangs', async () => {
    const elsewhere = { ...ONE, chainId: OTHER_CHAIN };
    lanes.wake([ONE]);
    lanes.wake([elsewhere]);
    await settled();
    expect(steps.shares).toEqual([[ONE], [elsewhere]]);
  });

  it('after a step that threw goes on with those that rang meanwhile, and says what was thrown', async () => {
    lanes.wake([ONE]);
    await settled();
    lanes.wake([TWO]);
    await steps.fail();
    expect(log.lines).toMatchObject([{ event: 'lane step failed', fields: { chainId: DEV_CHAIN } }]);
    expect(steps.shares).toEqual([[ONE], [TWO]]);
  });

  it('after a step that threw for all of its signers rests, and then gives each a step', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'queueMicrotask'] });
    lanes.wake([ONE, TWO]);
    await settled();
    await steps.fail();
    clock.advance(100);
    await jest.advanceTimersByTimeAsync(99);
    expect(steps.shares).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await steps.end();
    expect(steps.shares).toEqual([[ONE, TWO], [ONE], [TWO]]);
  });

  it('lets work gather between two steps while the process is busy, and not where a full batch waits', async () => {
    jest.spyOn(EventLoopLoad.prototype, 'current').mockReturnValue(1);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'queueMicrotask'] });
    lanes.wake([ONE]);
    await settled();
    await steps.end([ONE]);
    expect(steps.shares).toHaveLength(2);
    await steps.end();
    lanes.wake([TWO]);
    await settled();
    expect(steps.shares).toHaveLength(2);
    lanes.wake([THREE]);
    clock.advance(250);
    await jest.advanceTimersByTimeAsync(250);
    expect(steps.shares.slice(2)).toEqual([[TWO, THREE]]);
  });

  it('tells the depth of the queue, and how long a step waited for its worker', async () => {
    lanes.wake([ONE]);
    await settled();
    lanes.wake([TWO]);
    clock.advance(3_000);
    await steps.end();
    expect(metrics.values('worker_queue_depth')).toEqual([1, 2]);
    expect(metrics.values('worker_queue_latency_seconds')).toEqual([0, 3]);
  });
});

describe('stopping', () => {
  it('ends with the step in flight, and begins none for bells before or after', async () => {
    lanes.wake([ONE]);
    await settled();
    lanes.wake([TWO]);
    const ended = lanes.onModuleDestroy();
    lanes.wake([THREE]);
    await steps.end([ONE]);
    await ended;
    expect(steps.shares).toEqual([[ONE]]);
  });

  it('begins no step that rested', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'queueMicrotask'] });
    lanes.wake([ONE, TWO]);
    await settled();
    await steps.fail();
    await lanes.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(steps.shares).toHaveLength(1);
  });

  it('has the leases released when the step in flight has ended, and not before', async () => {
    let releases = 0;
    tickers.afterWork(() => (releases += 1));
    lanes.wake([ONE]);
    await settled();
    const stopped = tickers.shutDown();
    await settled();
    expect(releases).toBe(0);
    await steps.end();
    await stopped;
    expect(releases).toBe(1);
  });
});

describe('a node that only serves the API', () => {
  it('has no lane step, whoever rings', async () => {
    lanes = lanesWith({ role: 'api' });
    lanes.onApplicationBootstrap();
    lanes.wake([ONE]);
    await settled();
    expect(steps.shares).toEqual([]);
  });
});

describe('polling', () => {
  const item = (overrides: Partial<SignerWork> = {}): SignerWork => ({
    signer: ONE,
    hasPending: false,
    lease: 'free',
    ...overrides,
  });
  const one = new Set([signerKey(ONE)]);
  async function stepsAfter(...found: SignerWork[]): Promise<boolean> {
    work = found;
    await lanes.poll();
    await settled();
    return steps.shares.length === 1;
  }

  it('wakes a signer of ours that waits', async () => {
    held = one;
    expect(await stepsAfter(item({ hasPending: true }))).toBe(true);
    expect([calls.served, calls.unserved]).toEqual([[], []]);
  });

  it('leaves a signer of ours alone of which all is in flight', async () => {
    held = one;
    expect(await stepsAfter(item())).toBe(false);
  });

  it('wakes a signer of ours of which all is in flight when a step is owed', async () => {
    held = owing = one;
    expect(await stepsAfter(item())).toBe(true);
  });

  it('wakes a signer of ours without work when a step is owed, as when its chain may be behind our books', async () => {
    held = owing = one;
    expect(await stepsAfter()).toBe(true);
  });

  it('wakes a signer that nobody has, also when all is in flight: somebody has to watch it', async () => {
    expect(await stepsAfter(item())).toBe(true);
    expect(calls.unserved).toEqual([[ONE, false]]);
  });

  it('wakes a signer whose lease ran out on its holder, and says so', async () => {
    expect(await stepsAfter(item({ lease: 'lapsed' }))).toBe(true);
    expect(calls.unserved).toEqual([[ONE, true]]);
    expect(calls.served).toEqual([]);
  });

  it('leaves a signer alone that another node serves', async () => {
    expect(await stepsAfter(item({ lease: 'held', hasPending: true }))).toBe(false);
    expect([calls.served, calls.unserved]).toEqual([[ONE], []]);
  });

  it('leaves a free signer alone that another node is to take, and remembers since when nobody served it', async () => {
    foreign = one;
    expect(await stepsAfter(item({ hasPending: true }))).toBe(false);
    expect(calls.unserved).toEqual([[ONE, false]]);
  });

  it('says of a look at everything what it saw, and that the whole chain was looked at', async () => {
    work = [item(), item({ signer: TWO, lease: 'held' })];
    await lanes.poll();
    expect(calls.seen).toEqual([[[ONE, TWO], [DEV_CHAIN]]]);
  });

  it('looks at the signers in work only for a hundred times as long as a look at everything took', async () => {
    onLook = () => clock.advance(10);
    await lanes.poll();
    onLook = () => undefined;
    clock.advance(999);
    await lanes.poll();
    // Who was not seen there may have work all the same.
    expect(calls.seen).toHaveLength(1);
    clock.advance(1);
    await lanes.poll();
    expect(looks).toEqual(['all', 'in work', 'all']);
  });

  it('looks at everything again after half a minute, whatever a look costs', async () => {
    onLook = () => clock.advance(5_000);
    await lanes.poll();
    clock.advance(29_999);
    onLook = () => undefined;
    await lanes.poll();
    clock.advance(1);
    await lanes.poll();
    expect(looks).toEqual(['all', 'in work', 'all']);
  });

  it('is as sparing after a look that failed', async () => {
    onLook = () => {
      clock.advance(10);
      throw new Error('statement timeout');
    };
    await expect(lanes.poll()).rejects.toThrow('statement timeout');
    await lanes.poll();
    expect(looks).toEqual(['all', 'in work']);
  });

  it('looks at each chain by itself', async () => {
    onLook = () => clock.advance(10);
    await lanes.poll();
    await lanes.poll(OTHER_CHAIN);
    expect(looks).toEqual(['all', 'all']);
  });
});

/** Until everything that can go on has done so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

function lanesWith({ concurrency = 1, role = 'all' }: { concurrency?: number; role?: 'api' | 'all' }): PolledByHand {
  const worker = Object.assign(new WorkerConfig(), { concurrency, pollInterval: 3_600_000 });
  const chains = [DEV_CHAIN, OTHER_CHAIN].map((id) => Object.assign(new ChainConfig(), { id }));
  const node = Object.assign(new NodeConfig(), { role });
  const look = async (kind: string): Promise<SignerWork[]> => {
    looks.push(kind);
    if (kind === 'all') onLook();
    return work;
  };
  const leases = {
    workSeen: (...args: Calls['seen'][number]) => calls.seen.push(args),
    held: (signer: SignerId) => (held.has(signerKey(signer)) ? { signer } : null),
    heldOn: () => [ONE, TWO].filter((signer) => held.has(signerKey(signer))).map((signer) => ({ signer })),
    isOurs: (signer: SignerId) => !foreign.has(signerKey(signer)),
  };
  return new PolledByHand(
    steps as unknown as LaneStep,
    { get: (chainId: ChainId) => ({ chainId }) } as unknown as Chains,
    new SignerWorkers(worker, new KeysOf([])),
    { signersWithWork: () => look('all'), signersInWork: () => look('in work') } as unknown as TxQueue,
    leases as unknown as LeaseManager,
    { needsStep: ({ signer }: { signer: SignerId }) => owing.has(signerKey(signer)) } as unknown as LaneMemory,
    {
      served: (signer: SignerId) => calls.served.push(signer),
      unserved: (signer: SignerId, lapsed: boolean) => calls.unserved.push([signer, lapsed]),
    } as unknown as Router,
    metrics,
    clock,
    log,
    Object.assign(new LockstepConfig(), { chains, worker, node }),
    tickers,
  );
}
