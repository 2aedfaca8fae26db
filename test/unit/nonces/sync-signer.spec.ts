import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager, NodeRegistry, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import type { ReconcileSigner } from '../../../src/modules/lost-commits/application/reconcile-signer.js';
import type { SignerWorkers } from '../../../src/modules/signers/application/signer-workers.js';
import { SyncSigner } from '../../../src/modules/nonces/application/sync-signer.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const FOUND = [{ nonce: 4n, txHash: aHash(4) }];

let memory: LaneMemory;
let rung: SignerId[];
/** Null when too few endpoints tell. */
let agreed: bigint | null;
let pending: bigint[];
let cursor: bigint | null;
/** Nonces that nobody had, from the agreed one on. */
let missing: number;
let held: boolean;
let leases: Lease[];
let calls: unknown[][];
let work: UnfencedWork;
let sync: SyncSigner;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  [rung, agreed, pending, cursor, missing, held, leases, calls] = [[], 5n, [5n], 9n, 1, false, [LEASE], []];
  work = new UnfencedWork();
  const chain = {
    agreedCounts: async (...args: unknown[]) => {
      calls.push(['agreed', ...args]);
      return [agreed === null ? null : { nonce: agreed, block: { number: 7, hash: aHash(7) } }];
    },
    transactionCounts: async (...args: unknown[]) => (calls.push(['counts', ...args]), pending),
  };
  const ledger = {
    cursors: async (signers: unknown) => (
      calls.push(['cursors', signers]),
      new Map(cursor === null ? [] : [[signerKey(SIGNER), cursor]])
    ),
    align: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['align', ...places]),
    freeMissing: async (_fence: unknown, places: readonly SlotRef[], atMost: number) => {
      calls.push(['free', ...places, atMost]);
      const freed = Math.min(missing, atMost);
      missing -= freed;
      return new Array(freed).fill(places[0]);
    },
    missing: async (places: readonly SlotRef[]) => (missing === 0 ? [] : [{ ...places[0], count: missing }]),
  };
  sync = new SyncSigner(
    { get: (chainId: number) => (calls.push(['chain', chainId]), chain) } as unknown as Chains,
    {
      acquireOrRenew: async (signers: unknown) => (calls.push(['acquire', signers]), leases),
    } as unknown as LeaseManager,
    { holderOf: async () => ({ nodeId: 'owner', advertisedUrl: null, expiresInMs: 1 }) } as unknown as NodeRegistry,
    {
      execute: async (...args: unknown[]) => (calls.push(['reconcile', ...args]), { held, found: FOUND }),
    } as unknown as ReconcileSigner,
    {
      forChain: () => ({ run: (key: string, task: () => unknown) => (calls.push(['worker', key]), task()) }),
    } as unknown as SignerWorkers,
    work,
    ledger as unknown as NonceLedger,
    memory,
    { ring: (signers) => void rung.push(...signers) },
    new RecordingLog(),
  );
  // As far as the lane knows, the chain was asked just now, and there is no hole.
  memory.aligned([LEASE]);
  memory.gapsChecked([LEASE], new Set());
});

it('a gap that a person freed is looked after by the lane, also when no payload waits for its nonces', async () => {
  expect([memory.mayHaveGaps(LEASE), memory.needsAlignment(LEASE, 1_000)]).toEqual([false, false]);
  const { gap, cursor } = await sync.execute(SIGNER, 64);
  expect([gap.freed, cursor]).toEqual([1, { before: 9n, after: 9n }]);
  expect([memory.mayHaveGaps(LEASE), memory.needsAlignment(LEASE, 1_000), rung]).toEqual([true, true, [SIGNER]]);
});

describe('a signer that a person aligns', () => {
  it('is first looked at for what is out, and then changed by its own worker, under its lease', async () => {
    const place = { signer: SIGNER, nonce: 5n };
    await sync.execute(SIGNER, 64, true);
    expect(calls).toEqual([
      ['chain', SIGNER.chainId],
      ['reconcile', SIGNER, true],
      ['worker', signerKey(SIGNER)],
      ['acquire', [SIGNER]],
      ['agreed', [SIGNER.address], 'latest'],
      ['counts', [SIGNER.address], 'pending'],
      ['cursors', [SIGNER]],
      ['align', place],
      ['free', place, 64],
    ]);
    expect(work.tokens).toEqual([[1n]]);
  });

  it('is not vouched for unless the person says so', async () => {
    await sync.execute(SIGNER, 64);
    expect(calls).toContainEqual(['reconcile', SIGNER, false]);
  });

  it('is shown with its proof, and with what was found', async () => {
    [pending, missing] = [[8n], 3];
    expect(await sync.execute(SIGNER, 2)).toEqual({
      signer: SIGNER,
      chain: { nonce: 5n, block: { number: 7, hash: aHash(7) } },
      pending: 8n,
      cursor: { before: 9n, after: 9n },
      gap: { freed: 2, remaining: 1 },
      recovered: FOUND,
    });
  });

  it('has a cursor that is raised, made when there was none, and never lowered', async () => {
    for (const [before, after] of [
      [4n, 5n],
      [5n, 5n],
      [6n, 6n],
      [null, 5n],
    ] as const) {
      cursor = before;
      expect((await sync.execute(SIGNER, 0)).cursor).toEqual({ before, after });
    }
  });

  it('is as far as its chain says where no pool tells', async () => {
    pending = [];
    expect((await sync.execute(SIGNER, 0)).pending).toBe(5n);
  });
});

describe('a signer is not aligned', () => {
  const untouched = () => expect([work.tokens, rung]).toEqual([[], []]);

  it('while not all that is out of it is known', async () => {
    held = true;
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'signer_held',
      facts: SIGNER,
    });
    untouched();
  });

  it('by a node that does not act for it', async () => {
    leases = [];
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      code: 'not_leader',
      facts: { ownerNodeId: 'owner' },
    });
    untouched();
  });

  it('while too few endpoints tell its nonce', async () => {
    agreed = null;
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'nonce_not_known',
      facts: SIGNER,
    });
    untouched();
  });
});
