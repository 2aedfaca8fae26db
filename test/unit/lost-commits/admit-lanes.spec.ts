import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { sameSigner, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import { AdmitLanes } from '../../../src/modules/lost-commits/application/admit-lanes.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import type { LostCommitsMetrics } from '../../../src/modules/lost-commits/application/lost-commits-metrics.js';
import type { ReconcileLanes } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const [A, B]: Lease[] = [aSigner(1), aSigner(2)].map((signer) => ({ signer, owner: 'node', token: 1n }));

let steps: string[];
/** Signers that are to be held when they are looked at. */
let unclear: SignerId[];
let held: SignerId[];
let counts: number[];
let lost: string[];
let newEpoch: (evidence: string) => void;
let memory: LaneMemory;
let holding: HeldSigners;
let admit: AdmitLanes;

beforeEach(() => {
  [steps, unclear, counts, lost] = [[], [], [], []];
  held = [A, B].flatMap((lease) => lease?.signer ?? []);
  memory = new LaneMemory(new FakeClock());
  holding = new HeldSigners(new NonceConfig(), new FakeClock());
  admit = new AdmitLanes(
    {
      onNewEpoch: (run: typeof newEpoch) => (newEpoch = run),
      checkIfReconnected: async () => void steps.push('check'),
    } as unknown as DatabaseWatch,
    {
      held: (signer: SignerId) => (held.some((each) => sameSigner(each, signer)) ? A : null),
    } as unknown as LeaseManager,
    memory,
    holding,
    {
      execute: async (_chain: unknown, leases: readonly Lease[]) => {
        steps.push(...leases.map(({ signer }) => signerKey(signer)));
        for (const { signer } of leases) if (unclear.some((each) => sameSigner(each, signer))) holding.keep(signer);
      },
    } as unknown as ReconcileLanes,
    {
      held: (count: number) => void counts.push(count),
      lost: (evidence: string) => void lost.push(evidence),
    } as unknown as LostCommitsMetrics,
  );
});

async function admitted(...leases: (Lease | undefined)[]): Promise<readonly Lease[]> {
  return admit.execute(
    {} as ChainConnector,
    leases.flatMap((lease) => lease ?? []),
  );
}
const keyOf = (lease: Lease | undefined): string => (lease ? signerKey(lease.signer) : '');

describe('a lane begins', () => {
  it('when its signer was looked at, after the epoch of the database', async () => {
    expect(await admitted(A, B)).toEqual([A, B]);
    expect([steps, counts]).toEqual([['check', keyOf(A), keyOf(B)], [0]]);
  });

  it('without another look once it goes on', async () => {
    if (A) memory.recovered([A]);
    expect(await admitted(A)).toEqual([A]);
    expect(await admitted(A, B)).toEqual([A, B]);
    expect(steps).toEqual(['check', 'check', keyOf(B)]);
  });

  it('anew in a database that lost commits', async () => {
    if (A) memory.recovered([A]);
    newEpoch('timeline 2');
    await admitted(A);
    expect([steps, lost]).toEqual([['check', keyOf(A)], ['timeline 2']]);
  });

  it('not while not all is known that is out of its signer; the others do', async () => {
    unclear = [aSigner(1)];
    expect(await admitted(A, B)).toEqual([B]);
    expect(counts).toEqual([1]);
    // It is too soon for another look at it.
    expect(await admitted(A, B)).toEqual([B]);
    expect(steps.slice(3)).toEqual(['check', keyOf(B)]);
  });

  it('and is no longer held here when another node acts for its signer', async () => {
    unclear = [aSigner(1)];
    held = [aSigner(2)];
    await admitted(A, B);
    expect([holding.count, counts]).toEqual([0, [0]]);
  });
});
