import { NodeLeases } from '../../../src/modules/signers/application/node-leases.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../src/config/lockstep-config.js';
import { Router } from '../../../src/modules/signers/application/router.js';
import { LeaseManager } from '../../../src/modules/signers/application/lease-manager.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { LeaseLost } from '../../../src/modules/signers/domain/lease-lost.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf, Named } from '../../support/fakes/fake-node.js';
import { FakeLeaseStore } from '../../support/fakes/fake-lease-store.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { readableLog } from '../platform/log-lines.js';

const DURATION = 10_000;
const ALICE = aSigner(1);
const BOB = aSigner(2);
const KEYLESS = aSigner(99);

let store: FakeLeaseStore;
let clock: FakeClock;
let metrics: FakeMetrics;
let router: Router;
let manager: LeaseManager;

beforeEach(() => build([ALICE, BOB]));

/** A manager of a node with these keys. */
function build(signers: readonly SignerId[]): void {
  store = new FakeLeaseStore();
  clock = new FakeClock();
  metrics = new FakeMetrics();
  const config = Object.assign(new LeaseConfig(), { duration: DURATION, clockSkewAllowance: 700 });
  const keys = new KeysOf(signers);
  const me = new Named('me');
  router = new Router(me, new NodeConfig(), new ExecutionConfig(), config, clock);
  manager = new LeaseManager(
    new NodeLeases(store, me, config, metrics),
    keys,
    router,
    clock,
    metrics,
    readableLog().log,
  );
}

describe('a lease is trusted', () => {
  it('for its duration, counted from before the request for it, and not a moment longer', async () => {
    store.onCall = () => clock.advance(4_000);
    await manager.acquireOrRenew([ALICE]);

    clock.advance(DURATION - 4_000 - 1);
    expect(manager.held(ALICE)).not.toBeNull();
    clock.advance(1);
    expect(manager.held(ALICE)).toBeNull();
    expect(manager.heldOn(ALICE.chainId)).toEqual([]);
  });

  it('not at all when the answer took longer than the lease', async () => {
    store.onCall = () => clock.advance(DURATION);
    expect(await manager.acquireOrRenew([ALICE])).toEqual([]);
  });

  it('anew from before the request that renewed it', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(3_000);
    store.onCall = () => clock.advance(2_000);
    await manager.renewAll();

    clock.advance(DURATION - 2_000 - 1);
    expect(manager.held(ALICE)).not.toBeNull();
    clock.advance(1);
    expect(manager.held(ALICE)).toBeNull();
  });

  it('on its own chain only', async () => {
    await manager.acquireOrRenew([ALICE]);
    expect(manager.heldOn(ALICE.chainId)).toHaveLength(1);
    expect(manager.heldOn(ALICE.chainId + 1)).toEqual([]);
  });
});

describe('acquiring', () => {
  it('asks the database only for leases that are not trusted any more', async () => {
    await manager.acquireOrRenew([ALICE]);
    const leases = await manager.acquireOrRenew([ALICE, BOB]);
    expect(leases.map((lease) => lease.signer)).toEqual([ALICE, BOB]);
    store.expectCalls(['acquire', ALICE], ['acquire', BOB]);
  });

  it('leaves out the leases of other nodes', async () => {
    store.grant(BOB, 'another');
    const leases = await manager.acquireOrRenew([ALICE, BOB]);
    expect(leases).toEqual([{ signer: ALICE, owner: 'me', token: 1n }]);
    expect(metrics.counted('lease_acquire_total')).toEqual({ acquired: 1, busy: 1 });
    expect(metrics.values('lease_held').at(-1)).toBe(1);
  });

  it('never asks for a signer whose key is elsewhere', async () => {
    expect(await manager.acquireOrRenew([KEYLESS])).toEqual([]);
    store.expectCalls();
  });

  it('takes a lease that ran out under its new token', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(DURATION);
    store.expire(ALICE);
    expect(await manager.acquireOrRenew([ALICE])).toEqual([{ signer: ALICE, owner: 'me', token: 2n }]);
  });

  it('that fails leaves the leases that are held as they are, and is counted', async () => {
    await manager.acquireOrRenew([ALICE]);
    store.onCall = () => Promise.reject(new Error('no database'));
    await expect(manager.acquireOrRenew([ALICE, BOB])).rejects.toThrow('no database');
    expect(manager.held(ALICE)).not.toBeNull();
    expect(metrics.counted('lease_acquire_total')).toMatchObject({ error: 1 });
  });
});

describe('renewing', () => {
  it('asks for all leases at once, and for nothing when there are none', async () => {
    await manager.renewAll();
    store.expectCalls();
    await manager.acquireOrRenew([ALICE, BOB]);
    await manager.renewAll();
    store.expectCalls(['acquire', ALICE, BOB], ['renew', ALICE, BOB]);
  });

  it('that fails keeps the leases until the expiry last known', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(3_000);
    store.onCall = () => Promise.reject(new Error('no database'));
    await expect(manager.renewAll()).rejects.toThrow('no database');

    clock.advance(DURATION - 3_000 - 1);
    expect(manager.held(ALICE)).not.toBeNull();
    clock.advance(1);
    expect(manager.held(ALICE)).toBeNull();
    expect(metrics.counted('lease_renew_total')).toEqual({ error: 1 });
  });

  it('drops a lease that another node took, and keeps the others', async () => {
    await manager.acquireOrRenew([ALICE, BOB]);
    store.grant(ALICE, 'another');
    await manager.renewAll();
    expect(manager.held(ALICE)).toBeNull();
    expect(manager.held(BOB)).not.toBeNull();
    expect(metrics.counted('lease_renew_total')).toEqual({ lost: 1, renewed: 1 });
    expect(metrics.values('lease_held').at(-1)).toBe(1);
  });

  it('keeps a newer lease of ours that came while the older one was being refused', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(DURATION);
    store.expire(ALICE);
    store.onCall = async () => {
      store.onCall = () => undefined;
      await manager.acquireOrRenew([ALICE]);
    };
    await manager.renewAll();
    expect(manager.held(ALICE)?.token).toBe(2n);
  });
});

describe('a lease that the fence found lost', () => {
  it('is dropped at once and counted by operation', async () => {
    const [alice] = await manager.acquireOrRenew([ALICE, BOB]);
    if (!alice) throw new Error('it was free');
    manager.lost(new LeaseLost([alice], 'allocate'));
    expect(manager.held(ALICE)).toBeNull();
    expect(manager.held(BOB)).not.toBeNull();
    expect(metrics.counted('lease_fenced_total')).toEqual({ allocate: 1 });
    expect(metrics.values('lease_held').at(-1)).toBe(1);
  });

  it('does not take a newer lease of ours with it', async () => {
    const [old] = await manager.acquireOrRenew([ALICE]);
    if (!old) throw new Error('it was free');
    clock.advance(DURATION);
    store.expire(ALICE);
    await manager.acquireOrRenew([ALICE]);
    manager.lost(new LeaseLost([old], 'allocate'));
    expect(manager.held(ALICE)?.token).toBe(2n);
  });
});

describe('releasing all', () => {
  it('lets go of every lease, here first and then in the database', async () => {
    await manager.acquireOrRenew([ALICE, BOB]);
    store.onCall = () => expect(manager.heldOn(ALICE.chainId)).toEqual([]);
    await manager.releaseAll();
    store.expectCalls(['acquire', ALICE, BOB], ['release', ALICE, BOB]);
    expect(store.ownerOf(ALICE)).toBe('');
    expect(metrics.values('lease_held').at(-1)).toBe(0);
  });

  it('does not bother the database when there is nothing to release', async () => {
    await manager.releaseAll();
    store.expectCalls();
  });

  it('is the end of acquiring', async () => {
    await manager.releaseAll();
    expect(await manager.acquireOrRenew([ALICE])).toEqual([]);
    store.expectCalls();
  });

  it('also gives back a lease whose grant was still on its way', async () => {
    store.onCall = async () => {
      store.onCall = () => undefined;
      await manager.releaseAll();
    };
    expect(await manager.acquireOrRenew([ALICE])).toEqual([]);
    expect(manager.held(ALICE)).toBeNull();
    expect(store.ownerOf(ALICE)).toBe('');
  });
});

describe('a lease that was taken because nobody served the signer', () => {
  it('is left to the preferred node once it was handed over', async () => {
    router.membership(['other']);
    router.unserved(ALICE, true);
    const leases = await manager.acquireOrRenew([ALICE]);
    expect(leases).toHaveLength(1);

    await manager.giveUp(leases);
    expect(manager.isOurs(ALICE)).toBe(false);
    expect(await manager.acquireOrRenew([ALICE])).toEqual([]);
  });
});

describe('an idle lease', () => {
  const idle = (): unknown[] => manager.idleOn(ALICE.chainId).map(({ signer }) => signer);

  it('is one whose signer had nothing to do for ten durations, however often it was renewed', async () => {
    await manager.acquireOrRenew([ALICE, BOB]);
    for (let n = 0; n < 21; n += 1) {
      clock.advance(DURATION / 2);
      manager.workSeen([ALICE]);
      await manager.renewAll();
    }
    expect(manager.idleOn(BOB.chainId).map(({ signer }) => signer)).toEqual([BOB]);
  });

  it('is none yet after exactly ten durations, counted from the request for it or from the last work', async () => {
    await manager.acquireOrRenew([ALICE]);
    await passTime(10 * DURATION);
    manager.workSeen([], [ALICE.chainId]);
    expect(idle()).toEqual([]);
    await passTime(1);
    manager.workSeen([], [ALICE.chainId]);
    expect(idle()).toEqual([ALICE]);
    manager.workSeen([ALICE]);
    expect(idle()).toEqual([]);
  });

  it('is none while nobody has looked for work since, on its own chain', async () => {
    await manager.acquireOrRenew([ALICE]);
    await passTime(11 * DURATION);
    expect(idle()).toEqual([]);
    manager.workSeen([], [ALICE.chainId + 1]);
    expect(idle()).toEqual([]);
  });

  it('is none when it is not trusted any more', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(11 * DURATION);
    manager.workSeen([], [ALICE.chainId]);
    expect(idle()).toEqual([]);
  });

  /** With renewals on the way. */
  async function passTime(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= DURATION / 2) {
      clock.advance(Math.min(left, DURATION / 2));
      await manager.renewAll();
    }
  }
});

describe('taking what is free, whoever is to have it', () => {
  it('asks for leases that the router gives to another node, and not for those that are held or have no key here', async () => {
    await manager.acquireOrRenew([BOB]);
    router.membership(['other']);
    expect(manager.isOurs(ALICE)).toBe(false);
    await manager.takeFree([ALICE, BOB, KEYLESS]);
    store.expectCalls(['acquire', BOB], ['acquire', ALICE]);
    expect(manager.isOurs(ALICE)).toBe(true);
  });

  it('takes nothing after everything was released', async () => {
    await manager.releaseAll();
    await manager.takeFree([ALICE]);
    store.expectCalls();
  });
});

describe('acquiring through the router', () => {
  it('leaves signers that prefer another node, and renews its own all the same', async () => {
    await manager.acquireOrRenew([ALICE]);
    router.membership(['other']);
    expect((await manager.acquireOrRenew([ALICE, BOB])).map(({ signer }) => signer)).toEqual([ALICE]);
    store.expectCalls(['acquire', ALICE]);
    expect([manager.isOurs(ALICE), manager.isOurs(BOB), manager.isOurs(KEYLESS)]).toEqual([true, false, false]);
  });

  it('has no signer whose key is elsewhere, also when it is to have it', () => {
    expect([manager.isOurs(ALICE), manager.isOurs(KEYLESS)]).toEqual([true, false]);
  });
});

describe('the chains of a node', () => {
  const elsewhere = { ...BOB, chainId: BOB.chainId + 1 };
  beforeEach(() => build([ALICE, BOB, elsewhere]));

  it('are those on which it has leases that it trusts', async () => {
    await manager.acquireOrRenew([ALICE]);
    clock.advance(DURATION / 2);
    await manager.acquireOrRenew([elsewhere]);
    expect(manager.chains()).toEqual([ALICE.chainId, elsewhere.chainId]);
    clock.advance(DURATION / 2);
    expect(manager.chains()).toEqual([elsewhere.chainId]);
    expect([ALICE, elsewhere].map(({ chainId }) => manager.hasAnyOn(chainId))).toEqual([false, true]);
    await manager.releaseAll();
    expect(manager.chains()).toEqual([]);
  });

  it('are told when the first lease on one comes, and not with the second', async () => {
    const told: number[] = [];
    manager.onFirstOf((chainId) => told.push(chainId));
    await manager.acquireOrRenew([ALICE, BOB]);
    await manager.acquireOrRenew([elsewhere]);
    expect(told).toEqual([ALICE.chainId, elsewhere.chainId]);
    clock.advance(DURATION);
    await manager.acquireOrRenew([BOB]);
    expect(told).toEqual([ALICE.chainId, elsewhere.chainId, BOB.chainId]);
  });
});

describe('giving leases up', () => {
  it('lets go of those named, here first and then in the database, and of no others', async () => {
    const [alice] = await manager.acquireOrRenew([ALICE, BOB]);
    store.onCall = () => expect(manager.held(ALICE)).toBeNull();
    await manager.giveUp(alice ? [alice] : []);
    expect([store.ownerOf(ALICE), store.ownerOf(BOB)]).toEqual(['', 'me']);
    expect(manager.held(BOB)).not.toBeNull();
    expect(metrics.values('lease_held').at(-1)).toBe(1);
  });

  it.each([true, false])('says to the database whether they were idle: %s', async (idle) => {
    const leases = await manager.acquireOrRenew([ALICE]);
    await manager.giveUp(leases, idle);
    expect(store.idleReleases).toEqual([idle]);
  });

  it('is not idle by default, nor is a shutdown', async () => {
    await manager.giveUp(await manager.acquireOrRenew([ALICE]));
    await manager.acquireOrRenew([ALICE]);
    await manager.releaseAll();
    expect(store.idleReleases).toEqual([false, false]);
  });
});

describe('the terms of a lease', () => {
  it('are those of the config, when it is taken and when it is renewed', async () => {
    await manager.acquireOrRenew([ALICE]);
    await manager.renewAll();
    const terms = { durationMs: DURATION, clockSkewAllowanceMs: 700 };
    expect(store.terms).toEqual([terms, terms]);
  });
});
