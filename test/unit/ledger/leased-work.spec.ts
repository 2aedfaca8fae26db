import { beforeEach, describe, expect, it } from '@jest/globals';
import { WorkerConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import {
  type Lease,
  type LeaseHolder,
  LeaseLost,
  LeaseManager,
  NodeRegistry,
  SignerWorkers,
} from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { LeasedWork } from '../../../src/modules/ledger/application/writing/leased-work.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { KeysOf } from '../../support/fakes/fake-node.js';

interface Item {
  readonly signer: SignerId;
  readonly name: string;
}

const [A, B, C] = [1, 2, 3].map((n): Item => ({ signer: aSigner(n), name: `${n}` })) as [Item, Item, Item];
const HOLDER: LeaseHolder = { nodeId: 'other', advertisedUrl: 'http://other', expiresInMs: 7_000 };
const leaseOf = (signer: SignerId): Lease => ({ signer, owner: 'node', token: BigInt(signer.address) });

/** Keys of the signers that this node holds, and may take. */
let held: Set<string>;
let clock: FakeClock;
let memory: LaneMemory;
let log: RecordingLog;
let work: LeasedWork;
/** Names of the items of each task that ended well, and of each that did not. */
let done: string[][];
let tried: string[][];
/** Tokens of the leases that the tasks had. */
let tokens: bigint[][];
let fails: (items: readonly Item[]) => Error | null;

beforeEach(() => {
  held = new Set([A, B, C].map(({ signer }) => signerKey(signer)));
  [clock, log] = [new FakeClock(), new RecordingLog()];
  memory = new LaneMemory(clock);
  [done, tried, tokens, fails] = [[], [], [], () => null];
  const leases = {
    held: (signer: SignerId) => (held.has(signerKey(signer)) ? leaseOf(signer) : null),
    acquireOrRenew: async (signers: readonly SignerId[]) =>
      signers.filter((signer) => held.has(signerKey(signer))).map(leaseOf),
    lost: (error: LeaseLost) => error.leases.forEach(({ signer }) => held.delete(signerKey(signer))),
  };
  const nodes = fakeOf(NodeRegistry, { holderOf: async () => HOLDER });
  // One worker, so that all items share it.
  const workers = new SignerWorkers(Object.assign(new WorkerConfig(), { concurrency: 1 }), new KeysOf([]));
  work = new LeasedWork(workers, fakeOf(LeaseManager, leases), nodes, memory, clock, log);
});

async function run(...items: readonly Item[]): Promise<string[]> {
  [done, tried, tokens] = [[], [], []];
  const left = await work.run(DEV_CHAIN, items, async (leases, share) => {
    const names = share.map(({ name }) => name);
    const error = fails(share);
    tokens.push(leases.map(({ token }) => token));
    if (error !== null) {
      tried.push(names);
      throw error;
    }
    done.push(names);
  });
  return left.map(({ name }) => name);
}

const failFor =
  (bad: Item, error: Error) =>
  (items: readonly Item[]): Error | null =>
    items.includes(bad) ? error : null;
const AWAY = new Unavailable('rpc_unavailable', 'no answer', 'later');

describe('work for signers', () => {
  it('is done in one go for all that share a worker, with their leases', async () => {
    expect([await run(A, B, C), done, tokens]).toEqual([[], [['1', '2', '3']], [[1n, 2n, 3n]]]);
  });

  it('is none without items', async () => {
    expect([await run(), done]).toEqual([[], []]);
  });

  it('leaves out signers of other nodes', async () => {
    held.delete(signerKey(B.signer));
    expect([await run(A, B, C), done, tokens]).toEqual([[], [['1', '3']], [[1n, 3n]]]);
  });

  it('is done in parts of a thousand', async () => {
    await run(...new Array<Item>(1_001).fill(A));
    expect(done.map(({ length }) => length)).toEqual([1_000, 1]);
  });

  it('goes on for the others when a lease is lost in between, which is then no longer believed', async () => {
    memory.recovered([leaseOf(B.signer)]);
    fails = (items) => (items.includes(B) ? new LeaseLost([leaseOf(B.signer)], 'test') : null);
    expect([await run(A, B, C), done]).toEqual([[], [['1', '3']]]);
    expect([held.has(signerKey(B.signer)), memory.needsRecovery(leaseOf(B.signer))]).toEqual([false, true]);
  });
});

describe('an item that cannot be written', () => {
  it('keeps nothing else from being done, and is logged', async () => {
    fails = failFor(B, new Error('poison'));
    expect(await run(A, B, C)).toEqual([]);
    expect(done.flat().sort()).toEqual(['1', '3']);
    expect(log.lines).toMatchObject([{ event: 'work for a signer failed', fields: { signer: signerKey(B.signer) } }]);
  });
});

describe('a signer that is in trouble', () => {
  beforeEach(() => {
    fails = failFor(B, AWAY);
  });

  it('is left for a later try while others succeed', async () => {
    expect(await run(A, B, C)).toEqual(['2']);
    expect(done.flat().sort()).toEqual(['1', '3']);
    expect(log.lines).toMatchObject([{ fields: { signer: signerKey(B.signer), items: 1, error: AWAY } }]);
  });

  it('has a pause that grows, and then works alone', async () => {
    await run(A, B, C);
    for (const pauseMs of [1_000, 2_000]) {
      clock.advance(pauseMs - 1);
      expect([await run(A, B, C), done, tried]).toEqual([['2'], [['1', '3']], []]);
      clock.advance(1);
      expect([await run(A, B, C), done, tried]).toEqual([['2'], [['1', '3']], [['2']]]);
    }
  });

  it('shares the work again when it succeeded', async () => {
    await run(A, B, C);
    clock.advance(1_000);
    fails = () => null;
    expect([await run(A, B, C), done]).toEqual([[], [['1', '3'], ['2']]]);
    expect([await run(A, B, C), done]).toEqual([[], [['1', '2', '3']]]);
  });
});

it('work of which nothing succeeds fails, and pauses nobody: it is everybody’s trouble', async () => {
  fails = () => AWAY;
  await expect(run(A, B)).rejects.toMatchObject({ errors: [AWAY] });
  fails = () => null;
  expect([await run(A, B), done]).toEqual([[], [['1', '2']]]);
});

describe('work for one signer, as its owner', () => {
  it('has the lease of the signer, and its result is handed back', async () => {
    expect(await work.asOwner(B.signer, async (lease) => [lease.token, 'done'])).toEqual([2n, 'done']);
  });

  it('waits until other work of the signer has ended, and other work waits for it', async () => {
    const steps: string[] = [];
    const slow = async (name: string) => {
      steps.push(`${name} begins`);
      await new Promise(setImmediate);
      steps.push(`${name} ends`);
    };
    await Promise.all([
      work.run(DEV_CHAIN, [A], () => slow('first')),
      work.asOwner(A.signer, () => slow('owner')),
      work.run(DEV_CHAIN, [A], () => slow('last')),
    ]);
    expect(steps).toEqual(['first', 'owner', 'last'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('is refused where another node acts for it, and says which', async () => {
    held.delete(signerKey(A.signer));
    const refused = work.asOwner(A.signer, async () => void done.push(['1']));
    await expect(refused).rejects.toMatchObject({
      code: 'not_leader',
      facts: { ownerNodeId: 'other', ownerUrl: 'http://other' },
      retryAfterSeconds: 7,
    });
    expect(done).toEqual([]);
  });

  it('fails with its own error, and pauses nobody', async () => {
    await expect(work.asOwner(A.signer, () => Promise.reject(AWAY))).rejects.toBe(AWAY);
    expect([await run(A, B), done]).toEqual([[], [['1', '2']]]);
  });
});
