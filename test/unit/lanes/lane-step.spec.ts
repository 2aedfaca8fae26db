import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { sameSigner, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { type Lease, LeaseLost, type LeaseManager, type SlotRef } from '../../../src/modules/signers/index.js';
import type { AlignNonces } from '../../../src/modules/nonces/application/align-nonces.js';
import type { AllocateNonces } from '../../../src/modules/lanes/application/allocate-nonces.js';
import type { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import { LaneStep } from '../../../src/modules/lanes/application/lane-step.js';
import type { AdmitLanes } from '../../../src/modules/lost-commits/application/admit-lanes.js';
import type { PreparePending, ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import type { RecoverLane } from '../../../src/modules/lanes/application/recover-lane.js';
import type { SignAttempts } from '../../../src/modules/sending/application/sign-attempts.js';
import type { FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import { aManagedTx, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };
const QUOTE = {};

let memory: LaneMemory;
let recovery: () => void;
/** The end of every step. */
let tended: () => Promise<void>;
/** Txs that wait, and how many of them the database still had waiting. */
let waiting: ReadyTx[];
let allocated: number;
/** Keys of signers whose nonce is not agreed upon. */
let held: Set<string>;
/** What the chain says for signers that were asked for. */
let nonces: SlotRef[];
/** What the database says to txs that are to get a nonce. */
let allocating: (some: readonly ReadyTx[]) => void;
/** What the step did, in order. */
let calls: unknown[][];
let leases: Lease[];
let step: LaneStep;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  recovery = () => undefined;
  tended = async () => undefined;
  [waiting, allocated] = [[], 0];
  [held, nonces, allocating] = [new Set(), [], () => undefined];
  [calls, leases] = [[], [LEASE]];
  step = new LaneStep(
    { get: () => ({ feeQuote: async () => (calls.push(['quote']), QUOTE) }) } as unknown as Chains,
    {
      acquireOrRenew: async (signers: readonly SignerId[]) =>
        leases.filter(({ signer }) => signers.some((each) => sameSigner(each, signer))),
      lost: (error: LeaseLost) => void calls.push(['lost', ...error.leases]),
    } as unknown as LeaseManager,
    memory,
    {
      execute: async (_chain: unknown, all: readonly Lease[]) => (calls.push(['admit']), all),
    } as unknown as AdmitLanes,
    {
      execute: async (_chain: unknown, all: readonly Lease[]) => {
        calls.push(['recover', ...all]);
        recovery();
      },
    } as unknown as RecoverLane,
    { execute: () => (calls.push(['fills']), tended()) } as unknown as FillNonceGaps,
    {
      execute: async () => (calls.push(['prepare']), waiting),
      quarantine: async (_leases: unknown, { tx }: ReadyTx, error: unknown) => void calls.push(['aside', tx.id, error]),
    } as unknown as PreparePending,
    { execute: async () => (calls.push(['align']), { nonces, held }) } as unknown as AlignNonces,
    {
      execute: async (_leases: unknown, some: readonly ReadyTx[], counts: readonly SlotRef[]) => {
        calls.push(['allocate', ...some.map(({ tx }) => tx.id), ...counts]);
        allocating(some);
        return some.slice(0, allocated);
      },
    } as unknown as AllocateNonces,
    {
      execute: async (_chain: unknown, quote: unknown, _leases: unknown, some: readonly ReadyTx[]) => {
        calls.push(['sign', quote, ...some.map(({ tx }) => tx.id)]);
        return some.map(({ tx }) => `signed ${tx.id}`);
      },
    } as unknown as SignAttempts,
    {
      execute: async (_chain: unknown, _leases: unknown, signed: readonly string[]) =>
        void calls.push(['send', ...signed]),
    } as unknown as BroadcastAttempts,
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

describe('a step', () => {
  const execute = (...all: readonly Lease[]) =>
    step.execute(
      DEV_CHAIN,
      all.map(({ signer }) => signer),
      (signer) => calls.push(['failed', signer]),
    );

  it('finishes what was left before it looks at what waits, and asks for fees before it takes nonces', async () => {
    const nonce = { signer: LEASE.signer, nonce: 7n };
    [waiting, allocated, nonces] = [ready('a', 'b', 'c'), 3, [nonce]];
    await execute(LEASE);
    expect(calls).toEqual([
      ['admit'],
      ['recover', LEASE],
      ['prepare'],
      ['quote'],
      ['align'],
      ['allocate', 'a', 'b', 'c', nonce],
      ['sign', QUOTE, 'a', 'b', 'c'],
      ['send', 'signed a', 'signed b', 'signed c'],
      ['fills'],
    ]);
    expect(memory.needsAlignment(LEASE, 1_000)).toBe(false);
  });

  it('asks the chain for nothing when nothing waits, and has nothing to finish a second time', async () => {
    await execute(LEASE);
    calls = [];
    await execute(LEASE);
    expect(calls).toEqual([['admit'], ['prepare'], ['fills']]);
  });

  it('takes a nonce for aligned only where the chain was asked', async () => {
    [waiting, allocated] = [ready('a'), 1];
    await execute(LEASE);
    expect(memory.needsAlignment(LEASE, 1_000)).toBe(true);
  });

  it('sets aside a tx that can get no nonce, and sends the others', async () => {
    [waiting, allocated] = [ready('a', 'poison', 'c'), 3];
    const error = new Error('cannot be written');
    allocating = (some) => {
      if (some.some(({ tx }) => tx.id === 'poison')) throw error;
    };
    await execute(LEASE);
    expect(calls.filter(([name]) => name === 'aside' || name === 'sign')).toEqual([
      ['aside', 'poison', error],
      ['sign', QUOTE, 'a', 'c'],
    ]);
  });

  it('is none for signers of other nodes', async () => {
    leases = [];
    expect([await execute(LEASE), calls]).toEqual([[], []]);
  });

  it('that loses a lease begins anew, and goes on at once for the signers that are left', async () => {
    leases = [LEASE, OTHER];
    recovery = () => {
      throw new LeaseLost([OTHER], 'test');
    };
    expect(await execute(LEASE, OTHER)).toEqual([LEASE.signer]);
    expect(calls.at(-1)).toEqual(['lost', OTHER]);
    expect([LEASE, OTHER].map((lease) => memory.needsRecovery(lease))).toEqual([true, true]);
  });

  it('names the signers that failed while others did not', async () => {
    leases = [LEASE, OTHER];
    let shared = 0;
    recovery = () => {
      // Together they fail, and the second one alone, too.
      shared += 1;
      if (shared !== 2) throw new Error('broken');
    };
    await execute(LEASE, OTHER);
    expect(calls.at(-1)).toEqual(['failed', OTHER.signer]);
  });
});
