import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { Router } from '../../../src/modules/signers/application/router.js';
import { preferredNode } from '../../../src/modules/signers/domain/rendezvous.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { Named } from '../../support/fakes/fake-node.js';

const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const SIGNERS = Array.from({ length: 1_000 }, (_, n) => aSigner(n + 1));

let clock: FakeClock;
let router: Router;

beforeEach(() => {
  clock = new FakeClock();
  router = routerOf({});
});

function routerOf(config: { mode?: 'basic' | 'worker-queue'; role?: 'api' | 'worker' | 'all' }): Router {
  const execution = Object.assign(new ExecutionConfig(), { mode: config.mode ?? 'worker-queue' });
  const role = Object.assign(new NodeConfig(), { role: config.role ?? 'all' });
  return new Router(new Named('node-a'), role, execution, new LeaseConfig(), clock);
}

/** A signer that rendezvous gives to a node. */
function signerOf(node: string): SignerId {
  const signer = SIGNERS.find((each) => preferredNode(signerKey(each), NODES) === node);
  if (!signer) throw new Error(`no signer prefers ${node}`);
  return signer;
}

describe('rendezvous hashing', () => {
  it('is the same on every node, whatever the order in which nodes are listed', () => {
    for (const signer of SIGNERS) {
      expect(preferredNode(signerKey(signer), [...NODES].reverse())).toBe(preferredNode(signerKey(signer), NODES));
    }
  });

  it('gives every node about its share', () => {
    for (const node of NODES) {
      const share = SIGNERS.filter((signer) => preferredNode(signerKey(signer), NODES) === node).length;
      expect(share).toBeGreaterThan(180);
      expect(share).toBeLessThan(320);
    }
  });

  it('moves only the signers of a node that leaves', () => {
    const rest = NODES.slice(1);
    for (const signer of SIGNERS) {
      const before = preferredNode(signerKey(signer), NODES);
      if (before !== 'node-a') expect(preferredNode(signerKey(signer), rest)).toBe(before);
    }
  });
});

describe('rendezvous hashing between versions', () => {
  it('prefers the nodes that it always preferred: in a rolling update both versions must agree', () => {
    const preferred = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => preferredNode(`signer-${n}`, NODES)?.replace('node-', ''));
    expect(preferred.join('')).toBe('acbbccad');
  });

  it('gives a signer to the first of two nodes by name when their weights are equal, in either order', () => {
    const equal = ['76mmiq-node', '2391dx-node'];
    expect(preferredNode('signer-1', equal)).toBe('2391dx-node');
    expect(preferredNode('signer-1', equal.toReversed())).toBe('2391dx-node');
  });

  it('prefers nobody where there is no node', () => {
    expect(preferredNode('signer-1', [])).toBeNull();
  });
});

describe('routing', () => {
  it('lets a node take the signers that prefer it, and leave the others alone', () => {
    router.membership(NODES);
    expect(router.mayTake(signerOf('node-a'))).toBe(true);
    expect(router.mayTake(signerOf('node-b'))).toBe(false);
  });

  it('lets anybody take a signer that its preferred node does not serve for the duration of a lease', () => {
    router.membership(NODES);
    const signer = signerOf('node-b');
    router.unserved(signer, false);
    expect(router.mayTake(signer)).toBe(false);
    clock.advance(new LeaseConfig().duration);
    router.unserved(signer, false);
    expect(router.mayTake(signer)).toBe(false);
    clock.advance(1);
    expect(router.mayTake(signer)).toBe(true);
    router.served(signer);
    expect(router.mayTake(signer)).toBe(false);
  });

  it('lets anybody take a signer whose lease ran out on its holder, at once', () => {
    router.membership(NODES);
    const signer = signerOf('node-b');
    router.unserved(signer, true);
    expect(router.mayTake(signer)).toBe(true);
  });

  it('hands nothing over in basic mode', () => {
    const basic = routerOf({ mode: 'basic' });
    basic.membership(NODES);
    basic.membership(NODES);
    expect(basic.misplaced([signerOf('node-b')])).toEqual([]);
  });

  it('hands over nothing where the two heartbeats prefer different nodes', () => {
    const signer = signerOf('node-b');
    router.membership(['node-c']);
    router.membership(NODES);
    expect(router.misplaced([signer])).toEqual([]);
  });

  it('makes no difference in basic mode, and before a node knows of any other', () => {
    expect(router.mayTake(signerOf('node-b'))).toBe(true);
    const basic = routerOf({ mode: 'basic' });
    basic.membership(NODES);
    expect(basic.mayTake(signerOf('node-b'))).toBe(true);
  });

  it('knows whether a live node has the key of a signer, and takes it for granted while it knows of no node', () => {
    const served = () => router.isServed(aSigner(1));
    expect(served()).toBe(true);
    router.membership(NODES, { canSign: (node) => node === 'node-c', alike: NODES });
    expect(served()).toBe(true);
    router.membership(NODES, { canSign: () => false, alike: NODES });
    expect(served()).toBe(false);
    router.membership([], { canSign: () => false, alike: [] });
    expect(served()).toBe(true);
  });

  it('gives nothing to a node that only serves the API', () => {
    expect(routerOf({ role: 'api' }).mayTake(signerOf('node-a'))).toBe(false);
  });

  it('hands a signer over only when two heartbeats in a row prefer another node', () => {
    const signer = signerOf('node-b');
    router.membership(['node-a']);
    router.membership(NODES);
    expect(router.misplaced([signer])).toEqual([]);
    router.membership(NODES);
    expect(router.misplaced([signer, signerOf('node-a')])).toEqual([signer]);
  });

  it('never prefers a node that lacks the key: a signer stays with its holder, however the hashes fall', () => {
    const signer = signerOf('node-b');
    const keys = { canSign: (node: string) => node === 'node-a' || node === 'node-d', alike: ['node-a', 'node-d'] };
    router.membership(NODES, keys);
    router.membership(NODES, keys);
    const taker = preferredNode(signerKey(signer), ['node-a', 'node-d']);
    expect(router.mayTake(signer)).toBe(taker === 'node-a');
    expect(router.misplaced([signer])).toEqual(taker === 'node-a' ? [] : [signer]);
    router.membership(NODES, { ...keys, canSign: (node) => node === 'node-a' });
    expect([router.mayTake(signer), router.misplaced([signer])]).toEqual([true, []]);
  });

  it('chooses one node for a chain among those with the same keys', () => {
    const chains = Array.from({ length: 100 }, (_, chain) => chain + 1);
    const chosenBy = (nodes: readonly string[], alike: readonly string[]): number[] => {
      router.membership(nodes, { canSign: () => true, alike });
      return chains.filter((chain) => router.isChosenFor(chain));
    };
    expect(chosenBy(NODES, NODES).length).toBeGreaterThan(10);
    expect(chosenBy(NODES, NODES).length).toBeLessThan(45);
    expect(chosenBy(NODES, ['node-a'])).toEqual(chains);
    expect(chosenBy([], [])).toEqual(chains);
    expect(routerOf({ role: 'api' }).isChosenFor(1)).toBe(false);
  });
});
