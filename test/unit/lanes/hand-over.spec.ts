import { NodeLeases } from '../../../src/modules/signers/application/node-leases.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, LeaseConfig, NodeConfig, WorkerConfig } from '../../../src/config/lockstep-config.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { LeaseManager } from '../../../src/modules/signers/application/lease-manager.js';
import { Router } from '../../../src/modules/signers/application/router.js';
import { preferredNode } from '../../../src/modules/signers/domain/rendezvous.js';
import { Doorbell } from '../../../src/modules/ledger/application/writing/doorbell.js';
import { HandOver } from '../../../src/modules/lanes/application/hand-over.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { NodeRegistry } from '../../../src/modules/signers/index.js';
import { LeasedWork } from '../../../src/modules/ledger/application/writing/leased-work.js';
import { SignerWorkers } from '../../../src/modules/signers/application/signer-workers.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeLeaseStore } from '../../support/fakes/fake-lease-store.js';
import { KeysOf, Named } from '../../support/fakes/fake-node.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { readableLog } from '../platform/log-lines.js';

const BOTH = ['me', 'other'];
const MINE = signerPreferring('me');
const THEIRS = signerPreferring('other');

/** Remembers for whom it rang. */
class RecordingDoorbell extends Doorbell {
  readonly rungFor: SignerId[] = [];

  ring(signers: readonly SignerId[]): void {
    this.rungFor.push(...signers);
  }
}

let clock: FakeClock;
let store: FakeLeaseStore;
let lease: LeaseConfig;
let router: Router;
let leases: LeaseManager;
let doorbell: RecordingDoorbell;
let handOver: HandOver;

beforeEach(() => {
  clock = new FakeClock();
  store = new FakeLeaseStore();
  doorbell = new RecordingDoorbell();
  lease = new LeaseConfig();
  const me = new Named('me');
  const { log } = readableLog();
  const execution = Object.assign(new ExecutionConfig(), { mode: 'worker-queue' });
  router = new Router(me, new NodeConfig(), execution, lease, clock);
  const metrics = new FakeMetrics();
  leases = new LeaseManager(
    new NodeLeases(store, me, lease, metrics),
    new KeysOf([MINE, THEIRS]),
    router,
    clock,
    metrics,
    log,
  );
  const workers = new SignerWorkers(new WorkerConfig(), new KeysOf([]));
  // Who else has a signer is not asked here.
  const nodes = {} as NodeRegistry;
  const work = new LeasedWork(workers, leases, nodes, new LaneMemory(clock), clock, log);
  handOver = new HandOver(leases, router, work, doorbell);
});

describe('handing over', () => {
  it('gives a signer up that another node is to have, and wakes that node', async () => {
    await holdBothAlone();
    router.membership(BOTH);
    router.membership(BOTH);

    await handOver.execute(THEIRS.chainId);

    expect([store.ownerOf(MINE), store.ownerOf(THEIRS)]).toEqual(['me', '']);
    expect([doorbell.rungFor, store.idleReleases]).toEqual([[THEIRS], [false]]);
  });

  it('keeps a signer for which the node that would have it has no key', async () => {
    await holdBothAlone();
    const keys = { canSign: (node: string) => node === 'me', alike: ['me'] };
    router.membership(BOTH, keys);
    router.membership(BOTH, keys);

    await handOver.execute(THEIRS.chainId);

    expect([store.ownerOf(MINE), store.ownerOf(THEIRS)]).toEqual(['me', 'me']);
  });

  it('gives an idle signer up and wakes nobody: whoever wakes takes the lease, and it would never be free', async () => {
    await holdBothAlone();
    for (let n = 0; n < 21; n += 1) {
      clock.advance(lease.duration / 2);
      leases.workSeen([MINE]);
      await leases.renewAll();
    }

    await handOver.execute(THEIRS.chainId);

    expect([store.ownerOf(MINE), store.ownerOf(THEIRS)]).toEqual(['me', '']);
    expect([doorbell.rungFor, store.idleReleases]).toEqual([[], [true]]);
  });
});

it('gives nobody up as idle while it cannot be looked for work', async () => {
  await holdBothAlone();
  leases.workSeen([MINE, THEIRS]);
  for (let n = 0; n < 30; n += 1) {
    clock.advance(lease.duration / 2);
    await leases.renewAll();
  }
  await handOver.execute(THEIRS.chainId);
  expect([store.ownerOf(MINE), store.ownerOf(THEIRS)]).toEqual(['me', 'me']);
});

async function holdBothAlone(): Promise<void> {
  router.membership(['me']);
  router.membership(['me']);
  await leases.acquireOrRenew([MINE, THEIRS]);
}

function signerPreferring(node: string): SignerId {
  for (let n = 1; ; n += 1) if (preferredNode(signerKey(aSigner(n)), BOTH) === node) return aSigner(n);
}
