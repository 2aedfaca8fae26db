import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { NonceLedger, SlotHolder, SlotRef } from '../../../src/modules/signers/index.js';
import { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/writing/tx-metrics.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER = { signer: aSigner(2), owner: 'node', token: 2n };
const BATCH = 9;

let memory: LaneMemory;
let cursors: CommittedCursors;
/** Ids of the txs that still wait, as the database sees them. */
let waiting: string[];
let slots: readonly SlotHolder[];
/** Each call of the ledger, in order. */
let calls: unknown[][];
let released: bigint[];
let saved: readonly ManagedTx[];
let entered: readonly ManagedTx[];
let work: UnfencedWork;
/** The sequences that the ledger has. */
let known: boolean;
let allocate: AllocateNonces;

beforeEach(() => {
  [calls, released, saved, entered, known, work] = [[], [3n], [], [], true, new UnfencedWork()];
  memory = new LaneMemory(new FakeClock());
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  const ledger = {
    align: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['align', ...places]),
    read: async (_fence: unknown, signers: readonly SignerId[], most: number) => {
      calls.push(['read', signers, most]);
      return known ? [{ signer: LEASE.signer, cursor: 5n, released }] : [];
    },
    hold: async (_fence: unknown, held: readonly SlotHolder[], moved: readonly unknown[]) => {
      slots = held;
      calls.push(['hold', ...moved]);
    },
  };
  const repository = {
    lockPending: async (_fence: unknown, ids: readonly string[]) => (calls.push(['lock', ...ids]), new Set(waiting)),
    save: async (_fence: unknown, txs: readonly ManagedTx[]) => void (saved = txs),
  };
  allocate = new AllocateNonces(
    work,
    ledger as unknown as NonceLedger,
    repository as unknown as ManagedTxRepository,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    cursors,
    memory,
    { entered: (txs: readonly ManagedTx[]) => void (entered = txs) } as unknown as TxMetrics,
    { reached: (point: string) => void calls.push([point]) },
  );
});

async function noncesOf(...txIds: readonly string[]): Promise<[string, bigint][]> {
  const ready = txIds.map((txId) => ({ tx: aManagedTx({ txId }).build(), request: aRequest(), gasLimit: 21_000n }));
  const allocated = await allocate.execute([LEASE], ready, []);
  return allocated.map(({ tx }) => [tx.id, tx.nonce]);
}

describe('txs that get a nonce', () => {
  it('get the lowest free ones, in their order, each with its slot; those that do not wait any more get none', async () => {
    waiting = ['a', 'c'];
    expect(await noncesOf('a', 'b', 'c')).toEqual([
      ['a', 3n],
      ['c', 5n],
    ]);
    expect(slots.map(({ nonce, txId }) => [txId, nonce])).toEqual([
      ['a', 3n],
      ['c', 5n],
    ]);
  });

  it('are in flight from then on, as far as the lane keeps count', async () => {
    memory.countedInFlight(LEASE, 10);
    waiting = ['a', 'c'];
    await noncesOf('a', 'b', 'c');
    expect(memory.inFlight(LEASE)).toBe(12);
  });

  it('raise the cursor that the database must know from then on', async () => {
    waiting = ['a', 'b'];
    await noncesOf('a', 'b');
    expect(() => cursors.expect([LEASE.signer], new Map())).toThrow('lost commits');
  });
});

describe('the transaction that gives nonces', () => {
  const count = { signer: LEASE.signer, nonce: 4n };

  it('aligns first, locks what waits, and writes slots, cursor and txs together, under the leases that it needs', async () => {
    waiting = ['a', 'b'];
    const ready = waiting.map((txId) => ({ tx: aManagedTx({ txId }).build(), request: aRequest(), gasLimit: 30_000n }));
    const allocated = await allocate.execute([LEASE, OTHER], ready, [count]);
    expect(calls).toEqual([
      ['align', count],
      ['lock', 'a', 'b'],
      ['read', [LEASE.signer], BATCH],
      ['hold', { from: { signer: LEASE.signer, cursor: 5n, released }, to: 6n }],
      ['after_allocate'],
    ]);
    expect([saved, entered]).toEqual([allocated.map(({ tx }) => tx), saved]);
    expect(saved).toMatchObject(waiting.map((id) => ({ id, state: 'ALLOCATED', progress: { gasLimit: 30_000n } })));
    expect([work.tokens, ready[0]?.tx.state]).toEqual([[[1n]], 'PENDING']);
  });

  it('aligns also where nothing waits, and is none without either', async () => {
    await allocate.execute([LEASE, OTHER], [], [count]);
    expect([calls, work.tokens]).toEqual([[['align', count], ['after_allocate']], [[1n]]]);
    expect([await allocate.execute([LEASE], [], []), work.tokens.length]).toEqual([[], 1]);
  });

  it('writes nothing when a tx that waits would get no nonce', async () => {
    [waiting, known] = [['a'], false];
    await expect(noncesOf('a')).rejects.toMatchObject({ kind: 'internal' });
    expect(saved).toEqual([]);
  });
});
