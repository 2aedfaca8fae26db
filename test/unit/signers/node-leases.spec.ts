import { beforeEach, expect, it } from '@jest/globals';
import { LeaseConfig } from '../../../src/config/index.js';
import { NodeLeases } from '../../../src/modules/signers/application/node-leases.js';
import { aSigner } from '../../support/builders.js';
import { FakeLeaseStore } from '../../support/fakes/fake-lease-store.js';
import { Named } from '../../support/fakes/fake-node.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const [A, B] = [aSigner(1), aSigner(2)];
const config = Object.assign(new LeaseConfig(), { duration: 7_000, clockSkewAllowance: 300 });
const TERMS = { durationMs: 7_000, clockSkewAllowanceMs: 300 };

let store: FakeLeaseStore;
let metrics: FakeMetrics;
let leases: NodeLeases;

beforeEach(() => {
  [store, metrics] = [new FakeLeaseStore(), new FakeMetrics()];
  leases = new NodeLeases(store, new Named('me'), config, metrics);
});

const failures = () => (['lease_acquire_total', 'lease_renew_total'] as const).map((name) => metrics.counted(name));

it('leases are taken, renewed and released in the name of this node, for the configured time', async () => {
  const taken = await leases.acquire([A, B]);
  expect(taken.map(({ owner }) => owner)).toEqual(['me', 'me']);
  expect(await leases.renew(taken)).toEqual(taken);
  await leases.release(taken, true);
  store.expectCalls(['acquire', A, B], ['renew', A, B], ['release', A, B]);
  expect(store.terms).toEqual([TERMS, TERMS]);
  expect(store.idleReleases).toEqual([true]);
  expect([store.ownerOf(A), leases.nodeId, leases.durationMs, failures()]).toEqual(['', 'me', 7_000, [{}, {}]]);
});

it('a release is not of idle signers unless the caller says so', async () => {
  await leases.release(await leases.acquire([A]));
  expect(store.idleReleases).toEqual([false]);
});

it('a failure is counted for each signer, and passed on', async () => {
  const taken = await leases.acquire([A, B]);
  store.onCall = () => Promise.reject(new Error('the database is away'));
  await expect(leases.acquire([A, B])).rejects.toThrow('the database is away');
  await expect(leases.renew(taken.slice(0, 1))).rejects.toThrow('the database is away');
  expect(failures()).toEqual([{ error: 2 }, { error: 1 }]);
});
