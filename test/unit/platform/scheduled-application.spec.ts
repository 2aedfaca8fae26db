import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { HeadTracker } from '../../../src/modules/chain/index.js';
import { DeliverDue } from '../../../src/modules/webhooks/application/deliver-due.js';
import { LeaseManager } from '../../../src/modules/signers/index.js';
import { CHAINS, EmptyDatabase, startEmpty } from '../../support/empty-application.js';

/** Everything that runs by itself, under the name by which Nest's registry lists it; on each chain by itself. */
const ON_EACH_CHAIN = [
  'balances',
  'commands',
  'find-work',
  'follow',
  'hand-over',
  'holds',
  'left-free',
  'nonce-gaps',
  'permits',
  'receipts',
  'resubmit',
];
const ON_EACH_NODE = [
  'blob-housekeeping',
  'block-housekeeping',
  'event-horizon',
  'lease-heartbeat',
  'node-housekeeping',
  'policies',
  // Until the chain has answered, which none does here.
  ...CHAINS.map((id) => `probe-${id}`),
  'retention-housekeeping',
  'webhook-housekeeping',
];
const ON_EACH_NODE_THAT_SERVES = ['key-uses', 'keys', 'open-requests'];
const ON_EACH_NODE_THAT_ACTS = ['webhook-deliveries', 'webhook-fan-out'];
const ALL = [
  ...ON_EACH_NODE,
  ...ON_EACH_NODE_THAT_SERVES,
  ...ON_EACH_NODE_THAT_ACTS,
  ...ON_EACH_CHAIN.flatMap((name) => CHAINS.map((id) => `${name}-${id}`)),
].sort();

const MINUTE_MS = 60_000;

let database: EmptyDatabase;
let app: TestingModule;
let more: TestingModule[];

const start = (role: string, sections: Record<string, unknown> = {}): Promise<TestingModule> =>
  startEmpty({ node: { role }, ...sections }, database);

function scheduledIn(node: TestingModule): string[] {
  const registry = node.get(SchedulerRegistry);
  return [...registry.getIntervals(), ...registry.getCronJobs().keys()].sort();
}

describe('the application', () => {
  beforeEach(async () => {
    // Only the timers of `@Interval`: the tickers run in real time.
    jest.useFakeTimers({
      doNotFake: [
        'Date',
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setTimeout',
        'clearTimeout',
      ],
    });
    [database, more] = [new EmptyDatabase(), []];
    app = await start('all');
  });
  afterEach(async () => {
    await Promise.all([app, ...more].map((node) => node.close()));
    jest.useRealTimers();
  });

  it('has every scheduled provider in the registry of Nest from its start', () => {
    expect(scheduledIn(app)).toEqual(ALL);
    expect(app.get(SchedulerRegistry).getTimeouts()).toEqual([]);
  });

  it('has none of them there when it is closed', async () => {
    await app.close();
    expect(scheduledIn(app)).toEqual([]);
  });

  it('schedules nothing but the heartbeat, the probes of chains and housekeeping, which does nothing, on a node that only answers', async () => {
    const api = await start('api');
    more.push(api);
    expect(scheduledIn(api)).toEqual([...ON_EACH_NODE, ...ON_EACH_NODE_THAT_SERVES].sort());
    await app.close();
    database.statements.length = 0;
    const prune = jest.spyOn(api.get(HeadTracker), 'prune');
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(database.statements).not.toContain('node_forget_dead');
    expect(prune).not.toHaveBeenCalled();
  });

  it('publishes to a broker only where one is configured, and on nodes that act', async () => {
    const broker = { type: 'nats', urls: ['nats://127.0.0.1:1'] };
    const [worker, api] = [await start('worker', { broker }), await start('api', { broker })];
    more.push(worker, api);
    const acting = ALL.filter((name) => !ON_EACH_NODE_THAT_SERVES.includes(name));
    expect(scheduledIn(worker)).toEqual([...acting, 'broker-claim', 'broker-feed'].sort());
    expect(scheduledIn(api)).toEqual([...ON_EACH_NODE, ...ON_EACH_NODE_THAT_SERVES].sort());
    await worker.close();
    expect(scheduledIn(worker)).toEqual([]);
  });

  it('is independent of another one in the same process', async () => {
    const other = await start('all');
    more.push(other);
    await app.close();
    expect(scheduledIn(other)).toEqual(ALL);
  });

  it('cleans every minute', async () => {
    const prune = jest.spyOn(app.get(HeadTracker), 'prune');
    await jest.advanceTimersByTimeAsync(MINUTE_MS - 1);
    expect(prune).not.toHaveBeenCalled();
    expect(database.statements).not.toContain('node_forget_dead');
    await jest.advanceTimersByTimeAsync(1);
    expect(prune).toHaveBeenCalledTimes(1);
    expect(database.statements.filter((name) => name === 'node_forget_dead')).toHaveLength(1);
  });

  it('renews its leases until they are released, and stops everything else before', async () => {
    let left: string[] = [];
    const leases = app.get(LeaseManager);
    const release = leases.releaseAll.bind(leases);
    leases.releaseAll = async () => {
      left = scheduledIn(app).filter((name) => !name.includes('housekeeping'));
      await release();
    };
    await app.close();
    expect(left).toEqual(['lease-heartbeat']);
  });

  it('releases its leases before it waits for receivers of webhooks', async () => {
    const done: string[] = [];
    app.get(LeaseManager).releaseAll = async () => void done.push('released');
    app.get(DeliverDue).idle = async () => void done.push('delivered');
    await app.close();
    expect(done).toEqual(['released', 'delivered']);
  });
});
