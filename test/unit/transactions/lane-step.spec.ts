import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { AlignNonces } from '../../../src/modules/transactions/application/align-nonces.js';
import type { AllocateNonces } from '../../../src/modules/transactions/application/allocate-nonces.js';
import type { BroadcastAttempts } from '../../../src/modules/transactions/application/broadcast-attempts.js';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import { LaneStep } from '../../../src/modules/transactions/application/lane-step.js';
import type { AdmitLanes } from '../../../src/modules/transactions/application/lost-commits/admit-lanes.js';
import type { PreparePending, ReadyTx } from '../../../src/modules/transactions/application/prepare-pending.js';
import type { RecoverLane } from '../../../src/modules/transactions/application/recover-lane.js';
import type { SignAttempts } from '../../../src/modules/transactions/application/sign-attempts.js';
import type { TendFills } from '../../../src/modules/transactions/application/tend-fills.js';
import { aManagedTx, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };

let memory: LaneMemory;
let recovery: () => void;
/** The end of every step. */
let tended: () => Promise<void>;
/** Txs that wait, and how many of them the database still had waiting. */
let waiting: ReadyTx[];
let allocated: number;
/** Keys of signers whose nonce is not agreed upon. */
let held: Set<string>;
let step: LaneStep;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  recovery = () => undefined;
  tended = async () => undefined;
  [waiting, allocated] = [[], 0];
  held = new Set();
  step = new LaneStep(
    { get: () => ({ feeQuote: async () => null }) } as unknown as Chains,
    { acquireOrRenew: async () => [LEASE] } as unknown as LeaseManager,
    memory,
    { execute: async (_chain: unknown, leases: readonly Lease[]) => leases } as unknown as AdmitLanes,
    { execute: async () => recovery() } as unknown as RecoverLane,
    { execute: () => tended() } as unknown as TendFills,
    { execute: async () => waiting } as unknown as PreparePending,
    { execute: async () => ({ nonces: [], held }) } as unknown as AlignNonces,
    {
      execute: async (_leases: unknown, ready: readonly ReadyTx[]) => ready.slice(0, allocated),
    } as unknown as AllocateNonces,
    { execute: async () => [] } as unknown as SignAttempts,
    { execute: async () => undefined } as unknown as BroadcastAttempts,
    Object.assign(new ExecutionConfig(), { batchSize: 2 }),
    new RecordingLog(),
  );
});

function ready(...txIds: string[]): ReadyTx[] {
  return txIds.map((txId) => ({ tx: aManagedTx({ txId }).build(), request: aRequest(), gasLimit: 21_000n }));
}

/** @returns whether the next step begins with what is written */
async function startsAnewAfterStep(): Promise<boolean> {
  await step.execute(DEV_CHAIN, [LEASE.signer]);
  return memory.needsRecovery(LEASE);
}

describe('a lane starts from the database', () => {
  it('once', async () => {
    expect(memory.needsRecovery(LEASE)).toBe(true);
    expect(await startsAnewAfterStep()).toBe(false);
  });

  it('again when its recovery could not finish everything', async () => {
    recovery = () => memory.forget([LEASE.signer]);
    expect(await startsAnewAfterStep()).toBe(true);
  });

  it('again when txs were not waiting any more: a commit whose answer was lost may have allocated them', async () => {
    waiting = ready('a', 'b');
    allocated = 2;
    expect(await startsAnewAfterStep()).toBe(false);
    allocated = 1;
    expect(await startsAnewAfterStep()).toBe(true);
  });

  it('again when a step failed', async () => {
    expect(await startsAnewAfterStep()).toBe(false);
    tended = () => Promise.reject(new Unavailable('rpc_unavailable', 'no chain', 'later'));
    await expect(startsAnewAfterStep()).rejects.toThrow('no chain');
    expect(memory.needsRecovery(LEASE)).toBe(true);
  });
});

describe('a lane has another step at once', () => {
  it('when a full batch went, because more may wait behind it', async () => {
    [waiting, allocated] = [ready('a', 'b'), 2];
    expect(await step.execute(DEV_CHAIN, [LEASE.signer])).toEqual([LEASE.signer]);
    [waiting, allocated] = [ready('a'), 1];
    expect(await step.execute(DEV_CHAIN, [LEASE.signer])).toEqual([]);
  });

  it('not when nothing of its full batch could go: it would ask the chain the same without end', async () => {
    [waiting, allocated] = [ready('a', 'b'), 2];
    held = new Set([signerKey(LEASE.signer)]);
    expect(await step.execute(DEV_CHAIN, [LEASE.signer])).toEqual([]);
    [held, allocated] = [new Set(), 0];
    expect(await step.execute(DEV_CHAIN, [LEASE.signer])).toEqual([]);
  });
});
