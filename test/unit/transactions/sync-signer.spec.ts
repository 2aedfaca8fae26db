import { beforeEach, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { LeaseManager, NodeRegistry, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import type { ReconcileSigner } from '../../../src/modules/transactions/application/lost-commits/reconcile-signer.js';
import type { SignerWorkers } from '../../../src/modules/transactions/application/signer-workers.js';
import { SyncSigner } from '../../../src/modules/transactions/application/sync-signer.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };

let memory: LaneMemory;
let rung: number;
let sync: SyncSigner;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  rung = 0;
  const chain = {
    agreedCounts: async () => [{ nonce: 5n, block: { number: 7, hash: aHash(7) } }],
    transactionCounts: async () => [5n],
  };
  const ledger = {
    cursors: async () => new Map([[signerKey(SIGNER), 9n]]),
    align: async () => undefined,
    freeMissing: async (_fence: unknown, places: readonly SlotRef[]) => places,
    missing: async () => [],
  };
  sync = new SyncSigner(
    { get: () => chain } as unknown as Chains,
    { acquireOrRenew: async () => [LEASE] } as unknown as LeaseManager,
    {} as NodeRegistry,
    { execute: async () => ({ held: false, found: [] }) } as unknown as ReconcileSigner,
    { forChain: () => ({ run: (_key: string, work: () => unknown) => work() }) } as unknown as SignerWorkers,
    new UnfencedWork(),
    ledger as unknown as NonceLedger,
    memory,
    { ring: () => void (rung += 1) },
    new RecordingLog(),
  );
  // As far as the lane knows, the chain was asked just now, and there is no hole.
  memory.aligned([LEASE]);
  memory.holesTended([LEASE], new Set());
});

it('a gap that a person freed is looked after by the lane, also when no payload waits for its nonces', async () => {
  expect([memory.mayHaveHoles(LEASE), memory.needsAlignment(LEASE, 1_000)]).toEqual([false, false]);
  const { gap, cursor } = await sync.execute(SIGNER, 64);
  expect([gap.freed, cursor]).toEqual([1, { before: 9n, after: 9n }]);
  expect([memory.mayHaveHoles(LEASE), memory.needsAlignment(LEASE, 1_000), rung]).toEqual([true, true, 1]);
});
