import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import type { ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import type { ManagedTx, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
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
/** What was asked of the ledger and the repository under the fence, and the crash points, in order. */
let calls: unknown[][];
let writes: RecordedWrites;
let allocate: AllocateNonces;

beforeEach(() => {
  [waiting, known, calls, writes] = [[], true, [], new RecordedWrites()];
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  allocate = new AllocateNonces(
    {
      align: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['align', ...places]),
      read: async (_fence: unknown, signers: readonly SignerId[], most: number) => {
        calls.push(['read', signers, most]);
        return known ? signers.map((signer) => ({ signer, cursor: CURSOR, released: RELEASED })) : [];
      },
    } as unknown as NonceLedger,
    {
      lockForNonce: async (_fence: unknown, txs: readonly ManagedTx[]) => (
        calls.push(['lock', ...txs.map(({ id }) => id)]),
        new Set(waiting)
      ),
    } as unknown as ManagedTxRepository,
    writes.asDoor(),
    cursors,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    { reached: (point: string) => void calls.push([point]) },
  );
});

const readyTx = (txId: string, signer = LEASE.signer): ReadyTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer, requestId: `request of ${txId}` }),
  gasLimit: 30_000n,
});

async function noncesOf(...txIds: readonly string[]): Promise<[string, bigint][]> {
  const allocated = await allocate.execute(
    [LEASE],
    txIds.map((txId) => readyTx(txId)),
    [],
  );
  return allocated.map(({ tx }) => [tx.id, tx.nonce]);
}

describe('txs that get a nonce', () => {
  it('get the lowest free ones, in their order, each with its slot; those that do not wait any more get none', async () => {
    waiting = ['a', 'c'];
    expect(await noncesOf('a', 'b', 'c')).toEqual([
      ['a', 3n],
      ['c', 5n],
    ]);
    expect(writes.slots('held')).toEqual([
      { signer: LEASE.signer, nonce: 3n, txId: 'a' },
      { signer: LEASE.signer, nonce: 5n, txId: 'c' },
    ]);
  });

  it('get them from the sequence of their own signer', async () => {
    waiting = ['a', 'b'];
    const allocated = await allocate.execute([LEASE, OTHER], [readyTx('a'), readyTx('b', OTHER.signer)], []);
    expect(allocated.map(({ tx }) => [tx.signer, tx.nonce])).toEqual([
      [LEASE.signer, 3n],
      [OTHER.signer, 3n],
    ]);
    expect(writes.written[0]?.tokens).toEqual([1n, 2n]);
  });

  it('come back with what their clients asked for', async () => {
    waiting = ['a', 'b'];
    const allocated = await allocate.execute([LEASE], [readyTx('b'), readyTx('a')], []);
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
    await expect(noncesOf('a', 'b')).rejects.toThrow('no database');
    expect(() => cursors.expect([LEASE.signer], new Map())).not.toThrow();
    expect(calls).not.toContainEqual(['after_allocate']);
  });
});

describe('the transaction that gives nonces', () => {
  const count = { signer: LEASE.signer, nonce: 4n };

  it('aligns first, locks what waits, and writes slots, cursor and txs together, under the leases that it needs', async () => {
    waiting = ['a', 'b'];
    const ready = waiting.map((txId) => readyTx(txId));
    const allocated = await allocate.execute([LEASE, OTHER], ready, [count]);
    expect(calls).toEqual([['align', count], ['lock', 'a', 'b'], ['read', [LEASE.signer], BATCH], ['after_allocate']]);
    expect(writes.written).toMatchObject([
      {
        operation: 'allocate',
        tokens: [1n],
        changes: {
          slots: { cursors: [{ from: { signer: LEASE.signer, cursor: CURSOR, released: RELEASED }, to: 6n }] },
        },
      },
    ]);
    expect(writes.txs).toEqual(allocated.map(({ tx }) => tx));
    expect(writes.txs).toMatchObject(
      waiting.map((id) => ({ id, state: 'ALLOCATED', progress: { gasLimit: 30_000n } })),
    );
    expect(ready[0]?.tx.state).toBe('PENDING');
  });

  it('aligns also where nothing waits, and is none without either', async () => {
    await allocate.execute([LEASE, OTHER], [], [count]);
    expect([calls, writes.written]).toEqual([
      [['align', count], ['after_allocate']],
      [{ operation: 'allocate', tokens: [1n], changes: {} }],
    ]);
    expect([await allocate.execute([LEASE], [], []), writes.written.length]).toEqual([[], 1]);
  });

  it('writes nothing when a tx that waits would get no nonce', async () => {
    [waiting, known] = [['a'], false];
    await expect(noncesOf('a')).rejects.toMatchObject({ kind: 'internal' });
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
