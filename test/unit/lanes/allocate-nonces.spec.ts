import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import { NonceGate } from '../../../src/modules/lanes/application/nonce-gate.js';
import type { ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { AlignNonces } from '../../../src/modules/nonces/index.js';
import type { Lease, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { LaneMemory, type ManagedTx, type RequestedTx } from '../../../src/modules/ledger/index.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER = { signer: aSigner(2), owner: 'node', token: 2n };
const BATCH = 9;
const CURSOR = 5n;
const RELEASED = [3n];

let cursors: CommittedCursors;
/** Ids of the txs that still wait, as the database sees them. */
let waiting: string[];
/** Whether the ledger has a sequence of the signers. */
let known: boolean;
let released: readonly bigint[];
let outside: readonly bigint[];
/** What was asked of the ledger and the repository under the fence, and the crash points, in order. */
let calls: unknown[][];
let writes: RecordedWrites;
const NEEDS = new Map([['a', { value: 8n, fees: 2n }]]);
let allocate: AllocateNonces;
/** What the chain says for signers that were asked for, and keys of those whose nonce is not agreed upon. */
let chainNonces: readonly SlotRef[];
let held: Set<string>;
/** What the database says to txs that are to get a nonce, by their ids. */
let locking: (ids: readonly string[]) => void;
let memory: LaneMemory;
/** What a policy turned away. */
let turnedAway: ManagedTx[];
/** What was set aside, and why. */
let aside: [string, unknown][];

beforeEach(() => {
  [waiting, known, released, outside, calls, writes] = [[], true, RELEASED, [], [], new RecordedWrites()];
  [chainNonces, held, locking, aside, turnedAway] = [[], new Set(), () => undefined, [], []];
  memory = new LaneMemory(new FakeClock());
  memory.recovered([LEASE, OTHER]);
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  allocate = new AllocateNonces(
    { execute: async () => ({ nonces: chainNonces, held }) } as unknown as AlignNonces,
    {
      align: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['align', ...places]),
      read: async (_fence: unknown, signers: readonly SignerId[], most: number) => {
        calls.push(['read', signers, most]);
        return known ? signers.map((signer) => ({ signer, cursor: CURSOR, released, outside })) : [];
      },
      openFree: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['open free', ...places]),
    } as unknown as NonceLedger,
    fakeOf(NonceGate, {
      admit: async (_fence, ready) => {
        const ids = ready.map(({ tx }) => tx.id);
        calls.push(['lock', ...ids]);
        locking(ids);
        return { admitted: ready.filter(({ tx }) => waiting.includes(tx.id)), turnedAway, roomCame: [], needs: NEEDS };
      },
    }),
    writes.asDoor(),
    cursors,
    memory,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    { reached: (point: string) => void calls.push([point]) },
  );
});

const readyTx = (txId: string, signer = LEASE.signer): ReadyTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer, requestId: `request of ${txId}` }),
  gasLimit: 30_000n,
});

function give(leases: readonly Lease[], ready: readonly ReadyTx[], counts = chainNonces): Promise<RequestedTx[]> {
  chainNonces = counts;
  return allocate.execute(
    {} as ChainConnector,
    leases,
    ready,
    async ({ tx }, error) => void aside.push([tx.id, error]),
  );
}

async function noncesOf(...txIds: readonly string[]): Promise<[string, bigint][]> {
  const allocated = await give(
    [LEASE],
    txIds.map((txId) => readyTx(txId)),
  );
  return allocated.map(({ tx }) => [tx.id, tx.nonce]);
}

describe('txs that get a nonce', () => {
  it('get the lowest free ones, in their order, each with its slot and what it needs; those that do not wait any more get none', async () => {
    waiting = ['a', 'c'];
    expect(await noncesOf('a', 'b', 'c')).toEqual([
      ['a', 3n],
      ['c', 5n],
    ]);
    expect(writes.slots('held')).toEqual([
      { signer: LEASE.signer, nonce: 3n, txId: 'a', isOutside: false, reserve: NEEDS.get('a') },
      { signer: LEASE.signer, nonce: 5n, txId: 'c', isOutside: false },
    ]);
  });

  it('get none that an outside sender had; holds get these first, and what a payload leaves out is looked at as a gap', async () => {
    [waiting, outside] = [['a', 'b', 'c', 'd'], [2n]];
    memory.gapsChecked([LEASE]);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((txId) => readyTx(txId));
    const holdOf = ({ tx, ...rest }: ReadyTx): ReadyTx => ({
      ...rest,
      tx: aManagedTx({ txId: tx.id, signer: tx.signer, kind: 'hold' }).build(),
    });
    if (!a || !b || !c || !d) throw new Error('four were made');
    const allocated = await give([LEASE], [a, holdOf(b), c, holdOf(d)]);
    expect(allocated.map(({ tx }) => [tx.id, tx.nonce])).toEqual([
      ['a', 3n],
      ['b', 2n],
      ['c', 5n],
      ['d', 6n],
    ]);
    expect(memory.mayHaveGaps(LEASE)).toBe(true);
    expect(writes.slots('held')).toMatchObject([
      { isOutside: false },
      { isOutside: true },
      { isOutside: false },
      { isOutside: true },
    ]);
  });

  it('get them from the sequence of their own signer', async () => {
    waiting = ['a', 'b'];
    const allocated = await give([LEASE, OTHER], [readyTx('a'), readyTx('b', OTHER.signer)]);
    expect(allocated.map(({ tx }) => [tx.signer, tx.nonce])).toEqual([
      [LEASE.signer, 3n],
      [OTHER.signer, 3n],
    ]);
    expect(writes.written[0]?.tokens).toEqual([1n, 2n]);
  });

  it('come back with what their clients asked for', async () => {
    waiting = ['a', 'b'];
    const allocated = await give([LEASE], [readyTx('b'), readyTx('a')]);
    expect(allocated.map(({ tx, request }) => [tx.id, request.requestId])).toEqual([
      ['b', 'request of b'],
      ['a', 'request of a'],
    ]);
  });

  it('raise the cursor that the database must know from then on', async () => {
    waiting = ['a', 'b'];
    await noncesOf('a', 'b');
    expect(() => cursors.expect([LEASE.signer], new Map())).toThrow('lost commits');
  });

  it('raise no cursor when the commit failed', async () => {
    waiting = ['a', 'b'];
    writes.onWrite = () => {
      throw new Error('no database');
    };
    expect(await noncesOf('a', 'b')).toEqual([]);
    expect(() => cursors.expect([LEASE.signer], new Map())).not.toThrow();
    expect(calls).not.toContainEqual(['after_allocate']);
  });
});

describe('a tx that authorizes its own account', () => {
  const own = (): ReadyTx => {
    const { tx, request, gasLimit } = readyTx('own');
    const entry = { chainId: 1n, address: LEASE.signer.address, signer: LEASE.signer.address };
    return { tx, request: { ...request, payload: { ...request.payload, authorizationList: [entry] } }, gasLimit };
  };
  const written = async (): Promise<unknown[]> => {
    waiting = ['own'];
    const [allocated] = await give([LEASE], [own()]);
    return [allocated?.tx.nonce, writes.slots('held').length, calls.find(([name]) => name === 'open free')?.slice(1)];
  };

  it('takes the next two nonces, and the slot of the second is free', async () => {
    released = [3n, 5n];
    expect(await written()).toEqual([CURSOR, 1, [{ signer: LEASE.signer, nonce: CURSOR + 1n }]]);
    expect(writes.written).toMatchObject([{ changes: { slots: { cursors: [{ to: CURSOR + 2n }] } } }]);
  });

  it('takes two that are free already, as after a refusal', async () => {
    released = [3n, 4n];
    expect(await written()).toEqual([3n, 1, []]);
    expect(writes.written).toMatchObject([{ changes: { slots: { cursors: [{ to: CURSOR }] } } }]);
  });
});

describe('the transaction that gives nonces', () => {
  const count = { signer: LEASE.signer, nonce: 4n };

  it('aligns first, locks what waits, and writes slots, cursor and txs together, under the leases that it needs', async () => {
    waiting = ['a', 'b'];
    const ready = waiting.map((txId) => readyTx(txId));
    const allocated = await give([LEASE, OTHER], ready, [count]);
    expect(calls).toEqual([
      ['align', count],
      ['lock', 'a', 'b'],
      ['read', [LEASE.signer], BATCH],
      ['open free'],
      ['after_allocate'],
    ]);
    expect(writes.written).toMatchObject([
      {
        operation: 'allocate',
        tokens: [1n],
        changes: {
          slots: {
            cursors: [{ from: { signer: LEASE.signer, cursor: CURSOR, released: RELEASED, outside: [] }, to: 6n }],
          },
        },
      },
    ]);
    expect(writes.txs).toEqual(allocated.map(({ tx }) => tx));
    expect(writes.txs).toMatchObject(
      waiting.map((id) => ({ id, state: 'ALLOCATED', progress: { gasLimit: 30_000n } })),
    );
    expect(ready[0]?.tx.state).toBe('PENDING');
  });

  it('is none where nothing is ready', async () => {
    expect([await give([LEASE, OTHER], [], [count]), calls, writes.written]).toEqual([[], [], []]);
  });

  it('writes nothing when a tx that waits would get no nonce', async () => {
    [waiting, known] = [['a'], false];
    expect(await noncesOf('a')).toEqual([]);
    expect(aside).toMatchObject([['a', { kind: 'internal' }]]);
    expect(writes.written).toEqual([]);
  });

  it('writes nothing when the database forgot nonces that this process gave', async () => {
    cursors.committed([{ signer: LEASE.signer, nonce: CURSOR }]);
    waiting = ['a'];
    await expect(noncesOf('a')).rejects.toMatchObject({
      code: 'commits_lost',
      facts: { signer: signerKey(LEASE.signer) },
    });
    expect(writes.written).toEqual([]);
  });
});

describe('txs that are worth a nonce', () => {
  it('get none while the nonce of their signer is not agreed upon, and hold up no other signer', async () => {
    held = new Set([signerKey(LEASE.signer)]);
    waiting = ['a', 'b'];
    const allocated = await give([LEASE, OTHER], [readyTx('a'), readyTx('b', OTHER.signer)]);
    expect(allocated.map(({ tx }) => tx.id)).toEqual(['b']);
    expect([LEASE, OTHER].map((lease) => memory.needsRecovery(lease))).toEqual([false, false]);
  });

  it('get one without the one that can get none, which is set aside', async () => {
    waiting = ['a', 'poison', 'c'];
    locking = (ids) => {
      if (ids.includes('poison')) cannotBeWritten();
    };
    expect((await noncesOf('a', 'poison', 'c')).map(([id]) => id)).toEqual(['a', 'c']);
    expect(aside).toEqual([['poison', new Error('cannot be written')]]);
  });
});

describe('a lane', () => {
  it('takes its nonce for aligned only where the chain was asked', async () => {
    waiting = ['a', 'b'];
    await give([LEASE, OTHER], [readyTx('a'), readyTx('b', OTHER.signer)], [{ signer: LEASE.signer, nonce: 7n }]);
    expect([LEASE, OTHER].map((lease) => memory.needsAlignment(lease, 1_000))).toEqual([false, true]);
  });

  it.each([
    ['when no commit wrote that', () => (locking = cannotBeWritten)],
    ['when there was no commit: the only signer with ready txs is held', () => held.add(signerKey(LEASE.signer))],
  ])('does not take its nonce for aligned %s', async (_when, prevent) => {
    prevent();
    await give([LEASE, OTHER], [readyTx('a'), readyTx('b')], [{ signer: OTHER.signer, nonce: 7n }]);
    expect(memory.needsAlignment(OTHER, 1_000)).toBe(true);
  });

  it('starts from the database when txs were not waiting any more: a commit whose answer was lost may have allocated them', async () => {
    waiting = ['a'];
    await noncesOf('a');
    expect(memory.needsRecovery(LEASE)).toBe(false);
    await noncesOf('a', 'b');
    expect(memory.needsRecovery(LEASE)).toBe(true);
  });
});

function cannotBeWritten(): never {
  throw new Error('cannot be written');
}

it('what a policy turns away is written in the same commit, gets no nonce, and is nothing to look for in the database', async () => {
  waiting = ['a'];
  const held = aManagedTx({ txId: 'b', signer: LEASE.signer }).build();
  held.postponed('POLICY_HELD', 5_000, 'no room');
  turnedAway = [held];
  const allocated = await give([LEASE], [readyTx('a'), readyTx('b')]);
  expect(allocated.map(({ tx }) => tx.id)).toEqual(['a']);
  expect(writes.written.map(({ changes }) => changes.txs?.map(({ id, state }) => [id, state]))).toEqual([
    [
      ['a', 'ALLOCATED'],
      ['b', 'PENDING'],
    ],
  ]);
  expect(memory.needsRecovery(LEASE)).toBe(false);
});
