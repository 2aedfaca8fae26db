import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { LookForDelegations } from '../../../src/modules/lanes/application/look-for-delegations.js';
import type { RecoverLane } from '../../../src/modules/lanes/application/recover-lane.js';
import type { ResendLimited } from '../../../src/modules/lanes/application/resend-limited.js';
import { ResumeLanes } from '../../../src/modules/lanes/application/resume-lanes.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { InFlightLimits, LaneMemory } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };
const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;

let recovery: () => void;
let calls: unknown[][];
let memory: LaneMemory;
let looked: SignerId[][];
let limits: InFlightLimits;
let resume: ResumeLanes;

beforeEach(() => {
  [recovery, calls, memory] = [() => undefined, [], new LaneMemory(new FakeClock())];
  [looked, limits] = [[], new InFlightLimits(new ExecutionConfig())];
  resume = new ResumeLanes(
    {
      execute: async (...args: unknown[]) => {
        calls.push(['recover', ...args]);
        recovery();
      },
    } as unknown as RecoverLane,
    { execute: async (...args: unknown[]) => void calls.push(['resend limited', ...args]) } as unknown as ResendLimited,
    {
      execute: async (_chain: unknown, signers: readonly SignerId[]) => void looked.push([...signers]),
    } as unknown as LookForDelegations,
    limits,
    memory,
  );
});

const execute = (): Promise<void> => resume.execute(CHAIN, [LEASE, OTHER]);

it('a lane finishes what was left before it sends again what waits for room in a pool', async () => {
  await execute();
  expect(calls).toEqual([
    ['recover', CHAIN, [LEASE, OTHER]],
    ['resend limited', DEV_CHAIN, [LEASE, OTHER]],
  ]);
});

describe('a lane starts from the database', () => {
  const recovered = () => calls.filter(([name]) => name === 'recover').map(([, , leases]) => leases);

  it('once, and has nothing to finish a second time', async () => {
    await execute();
    await execute();
    expect(recovered()).toEqual([[LEASE, OTHER]]);
  });

  it('by itself, when the others of the step have begun already', async () => {
    memory.recovered([LEASE]);
    await execute();
    expect(recovered()).toEqual([[OTHER]]);
  });

  it('again when its recovery could not finish everything', async () => {
    recovery = () => memory.forget([LEASE.signer]);
    await execute();
    expect([LEASE, OTHER].map((lease) => memory.needsRecovery(lease))).toEqual([true, false]);
  });
});

it('a lane looks whether its account delegates when it begins, and after a tx that may have changed that', async () => {
  await execute();
  await execute();
  limits.delegates(OTHER.signer);
  await execute();
  limits.madeRoom([OTHER.signer]);
  await execute();
  expect(looked).toEqual([[LEASE.signer, OTHER.signer], [], [], [OTHER.signer]]);
});
