import { beforeEach, describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/errors.js';
import { sameSigner, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { AdvanceLanes } from '../../../src/modules/lanes/application/advance-lanes.js';
import { LaneStep } from '../../../src/modules/lanes/application/lane-step.js';
import { type Lease, LeaseLost, type LeaseManager } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };

let memory: LaneMemory;
/** Leases that this node has or gets. */
let leases: Lease[];
/** What the lanes do with a share of the leases, and answer. */
let advance: (share: readonly Lease[]) => SignerId[];
/** The leases that were lost, and the signers that failed. */
let lost: Lease[];
let failed: SignerId[];
let chainsAsked: number[];
let log: RecordingLog;
let step: LaneStep;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  [leases, advance, lost, failed, chainsAsked, log] = [[LEASE, OTHER], () => [], [], [], [], new RecordingLog()];
  memory.recovered(leases);
  step = new LaneStep(
    { get: (chainId: number) => void chainsAsked.push(chainId) } as unknown as Chains,
    {
      acquireOrRenew: async (signers: readonly SignerId[]) =>
        leases.filter(({ signer }) => signers.some((each) => sameSigner(each, signer))),
      lost: (error: LeaseLost) => void lost.push(...error.leases),
    } as unknown as LeaseManager,
    memory,
    { execute: async (_chain: unknown, share: readonly Lease[]) => advance(share) } as unknown as AdvanceLanes,
    log,
  );
});

const execute = (...all: readonly Lease[]): Promise<SignerId[]> =>
  step.execute(
    DEV_CHAIN,
    all.map(({ signer }) => signer),
    (signer) => failed.push(signer),
  );
const startAnew = (): boolean[] => [LEASE, OTHER].map((lease) => memory.needsRecovery(lease));

describe('a step', () => {
  it('is one for all signers that share it, and tells which have more waiting', async () => {
    const shares: (readonly Lease[])[] = [];
    advance = (share) => (shares.push(share), [OTHER.signer]);
    expect(await execute(LEASE, OTHER)).toEqual([OTHER.signer]);
    expect([shares, chainsAsked]).toEqual([[[LEASE, OTHER]], [DEV_CHAIN]]);
    expect(startAnew()).toEqual([false, false]);
  });

  it('is none for signers of other nodes', async () => {
    leases = [];
    advance = () => [LEASE.signer];
    expect([await execute(LEASE), chainsAsked]).toEqual([[], []]);
  });

  it('that failed begins with what is written the next time', async () => {
    advance = () => {
      throw new Unavailable('rpc_unavailable', 'no chain', 'later');
    };
    await expect(execute(LEASE)).rejects.toThrow('no chain');
    expect([startAnew(), lost]).toEqual([[true, false], []]);
  });

  it('that loses a lease begins anew, and goes on at once for the signers that are left', async () => {
    advance = () => {
      throw new LeaseLost([OTHER], 'test');
    };
    expect(await execute(LEASE, OTHER)).toEqual([LEASE.signer]);
    expect([lost, startAnew()]).toEqual([[OTHER], [true, true]]);
    expect([failed, log.lines]).toEqual([[], []]);
  });

  it('names the signers that failed while others did not', async () => {
    const error = new Error('broken');
    advance = (share) => {
      if (share.includes(OTHER)) throw error;
      return [];
    };
    await execute(LEASE, OTHER);
    expect(failed).toEqual([OTHER.signer]);
    expect(log.lines).toEqual([{ event: 'lane step failed', fields: { signer: signerKey(OTHER.signer), error } }]);
  });

  it('tells of more waiting also where another signer of the step failed', async () => {
    advance = (share) => {
      if (share.includes(OTHER)) throw new Error('broken');
      return [LEASE.signer];
    };
    expect(await execute(LEASE, OTHER)).toEqual([LEASE.signer]);
  });
});
