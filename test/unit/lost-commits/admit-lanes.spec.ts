import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LossEvidence } from '../../../src/platform/database/database-sighting.js';
import { NonceConfig } from '../../../src/config/index.js';
import { sameSigner, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { type Lease } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { AdmitLanes } from '../../../src/modules/lost-commits/application/admit-lanes.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import { ReconcileLanes } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner, aLease } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aWatch } from '../../support/fakes/fake-watch.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { leasesOf } from '../../support/fakes/fake-leases.js';

const [A, B]: Lease[] = [aSigner(1), aSigner(2)].map((signer) => ({ signer, owner: 'node', token: 1n }));

let steps: string[];
/** Signers that are to be held when they are looked at. */
let unclear: SignerId[];
let held: SignerId[];
/** Signers with a commit without an answer, which may still happen. */
let open: SignerId[];
let metrics: FakeMetrics;
let newEpoch: (evidence: LossEvidence) => void;
let memory: LaneMemory;
let holding: HeldSigners;
let whileReconciled: () => void;
let admit: AdmitLanes;

beforeEach(() => {
  [steps, unclear, open, metrics] = [[], [], [], new FakeMetrics()];
  whileReconciled = () => undefined;
  held = [A, B].flatMap((lease) => lease?.signer ?? []);
  memory = new LaneMemory(new FakeClock());
  holding = new HeldSigners(new NonceConfig(), new FakeClock(), aWatch());
  admit = new AdmitLanes(
    fakeOf(DatabaseWatch, {
      onNewEpoch: (run) => (newEpoch = run),
      checkIfReconnected: async () => void steps.push('check'),
    }),
    leasesOf(
      () => held.map((signer) => aLease(signer)),
      (signer) => open.some((each) => sameSigner(each, signer)),
    ),
    memory,
    holding,
    fakeOf(ReconcileLanes, {
      execute: async (_chain, leases) => {
        steps.push(...leases.map(({ signer }) => signerKey(signer)));
        whileReconciled();
        for (const { signer } of leases) if (unclear.some((each) => sameSigner(each, signer))) holding.keep(signer);
        return [];
      },
    }),
    metrics,
  );
});

async function admitted(...leases: (Lease | undefined)[]): Promise<readonly Lease[]> {
  return admit.execute(
    {} as ChainConnector,
    leases.flatMap((lease) => lease ?? []),
  );
}
const keyOf = (lease: Lease | undefined): string => (lease ? signerKey(lease.signer) : '');

it('no lane acts in a step during which a new epoch began, and each is looked at in the next', async () => {
  if (A) memory.recovered([A]);
  whileReconciled = () => newEpoch('new_timeline');
  expect(await admitted(A, B)).toEqual([]);
  whileReconciled = () => undefined;
  expect(await admitted(A, B)).toEqual([A, B]);
  expect(steps).toEqual(['check', keyOf(B), 'check', keyOf(A), keyOf(B)]);
});

describe('a lane begins', () => {
  it('when its signer was looked at, after the epoch of the database', async () => {
    expect(await admitted(A, B)).toEqual([A, B]);
    expect([steps, metrics.values('signers_held')]).toEqual([['check', keyOf(A), keyOf(B)], [0]]);
  });

  it('without another look once it goes on', async () => {
    if (A) memory.recovered([A]);
    expect(await admitted(A)).toEqual([A]);
    expect(await admitted(A, B)).toEqual([A, B]);
    expect(steps).toEqual(['check', 'check', keyOf(B)]);
  });

  it('anew in a database that lost commits', async () => {
    if (A) memory.recovered([A]);
    newEpoch('new_timeline');
    await admitted(A);
    expect([steps, metrics.counted('database_lost_commits_total')]).toEqual([['check', keyOf(A)], { new_timeline: 1 }]);
  });

  it('not while not all is known that is out of its signer; the others do', async () => {
    unclear = [aSigner(1)];
    expect(await admitted(A, B)).toEqual([B]);
    expect(metrics.values('signers_held')).toEqual([1]);
    // It is too soon for another look at it.
    expect(await admitted(A, B)).toEqual([B]);
    expect(steps.slice(3)).toEqual(['check', keyOf(B)]);
  });

  it('not while a commit without an answer may still happen: what is read of its signer before that is not looked at', async () => {
    open = [aSigner(1)];
    expect(await admitted(A, B)).toEqual([B]);
    expect([steps, A && memory.isAdmitted(A)]).toEqual([['check', keyOf(B)], false]);
    open = [];
    expect(await admitted(A, B)).toEqual([A, B]);
  });

  it('and goes on while one of its own commits is open', async () => {
    if (A) memory.recovered([A]);
    open = [aSigner(1)];
    expect(await admitted(A, B)).toEqual([A, B]);
  });

  it('and is no longer held here when another node acts for its signer', async () => {
    unclear = [aSigner(1)];
    held = [aSigner(2)];
    await admitted(A, B);
    expect([holding.count, metrics.values('signers_held')]).toEqual([0, [0]]);
  });
});
