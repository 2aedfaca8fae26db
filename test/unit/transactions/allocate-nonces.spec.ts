import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { NonceLedger, SlotHolder } from '../../../src/modules/signers/index.js';
import { AllocateNonces } from '../../../src/modules/transactions/application/allocate-nonces.js';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import { CommittedCursors } from '../../../src/modules/transactions/application/lost-commits/committed-cursors.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/tx-metrics.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };

let memory: LaneMemory;
let cursors: CommittedCursors;
/** Ids of the txs that still wait, as the database sees them. */
let waiting: string[];
let slots: readonly SlotHolder[];
let allocate: AllocateNonces;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  const ledger = {
    align: async () => undefined,
    read: async () => [{ signer: LEASE.signer, cursor: 5n, released: [3n] }],
    hold: async (_fence: unknown, held: readonly SlotHolder[]) => void (slots = held),
  };
  const repository = { lockPending: async () => new Set(waiting), save: async () => undefined };
  allocate = new AllocateNonces(
    new UnfencedWork(),
    ledger as unknown as NonceLedger,
    repository as unknown as ManagedTxRepository,
    new ExecutionConfig(),
    cursors,
    memory,
    { entered: () => undefined } as unknown as TxMetrics,
    { reached: () => undefined },
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
