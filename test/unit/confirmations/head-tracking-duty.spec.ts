import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../src/config/index.js';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import { ChainActivity, HeadTrackingDuty } from '../../../src/modules/confirmations/application/head-tracking-duty.js';
import type { ReopenFinal } from '../../../src/modules/confirmations/application/reopen-final.js';
import { Router } from '../../../src/modules/signers/application/router.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { Named } from '../../support/fakes/fake-node.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const NODES = ['node-a', 'node-b', 'node-c'];
const CHAINS = Array.from({ length: 50 }, (_, n) => n + 1);
const HOUR = 3_600_000;

/** The table that all nodes share, by the clock of the test. */
class SharedActivity extends ChainActivity {
  statements = 0;
  isDown = false;
  private readonly last = new Map<ChainId, number>();

  constructor(private readonly clock: FakeClock) {
    super();
  }

  async note(chainIds: readonly ChainId[]): Promise<ReadonlyMap<ChainId, number>> {
    this.statements += 1;
    if (this.isDown) throw new Error('no database');
    const now = this.clock.monotonicMs();
    const ages = new Map([...this.last].map(([chainId, at]) => [chainId, now - at]));
    for (const chainId of chainIds) this.last.set(chainId, now);
    return ages;
  }
}

let clock: FakeClock;
let activity: SharedActivity;
let nodes: { readonly duty: HeadTrackingDuty; readonly held: Set<ChainId>; readonly waiting: Set<ChainId> }[];

beforeEach(() => {
  clock = new FakeClock();
  activity = new SharedActivity(clock);
  nodes = NODES.map((id) => startNode(id, NODES));
});

function startNode(id: string, alike: readonly string[]) {
  const [held, waiting] = [new Set<ChainId>(), new Set<ChainId>()];
  const leases = { hasAnyOn: (chainId: ChainId) => held.has(chainId), chains: () => [...held] };
  const reopen = { isWaiting: (chainId: ChainId) => waiting.has(chainId) };
  const router = new Router(new Named(id), new NodeConfig(), new ExecutionConfig(), new LeaseConfig(), clock);
  router.membership(NODES, { canSign: () => true, alike });
  const duty = new HeadTrackingDuty(
    leases as unknown as LeaseManager,
    router,
    reopen as unknown as ReopenFinal,
    activity,
    clock,
    new RecordingLog(),
  );
  return { held, waiting, duty };
}

/** How many nodes follow each chain. */
async function followers(): Promise<number[]> {
  return Promise.all(
    CHAINS.map(async (chainId) => {
      const due = await Promise.all(nodes.map(({ duty }) => duty.isDue(chainId)));
      return due.filter((is) => is).length;
    }),
  );
}

const everyChain = (count: number): number[] => CHAINS.map(() => count);

describe('a chain', () => {
  it('on which nobody ever worked is followed by nobody, at a statement per node in half a minute', async () => {
    expect(await followers()).toEqual(everyChain(0));
    clock.advance(10_000);
    expect(await followers()).toEqual(everyChain(0));
    expect(activity.statements).toBe(NODES.length);
  });

  it('is followed by the nodes that have leases there, from the first look on', async () => {
    await followers();
    nodes[0]?.held.add(7);
    nodes[2]?.held.add(7);
    expect(await followers()).toEqual(CHAINS.map((chainId) => (chainId === 7 ? 2 : 0)));
  });

  it('is noted at the first look with a lease there, and then every half a minute', async () => {
    const [node] = nodes;
    const statementsAfter = async (ms: number, chainId = 7): Promise<number> => {
      clock.advance(ms);
      await node?.duty.isDue(chainId);
      return activity.statements;
    };
    expect(await statementsAfter(0)).toBe(1);
    node?.held.add(7);
    expect([await statementsAfter(1), await statementsAfter(29_999), await statementsAfter(1)]).toEqual([2, 2, 3]);
    node?.held.add(8);
    expect([await statementsAfter(1, 8), await statementsAfter(1, 8)]).toEqual([4, 4]);
  });

  it('is followed by one node for an hour after the last lease, and by another when that one is gone', async () => {
    for (const chainId of CHAINS) nodes[0]?.held.add(chainId);
    await followers();
    nodes[0]?.held.clear();
    clock.advance(30_000);
    expect(await followers()).toEqual(everyChain(1));
    nodes = [startNode('node-b', NODES.slice(1)), startNode('node-c', NODES.slice(1))];
    expect(await followers()).toEqual(everyChain(1));
    clock.advance(HOUR - 30_000 - 1);
    expect(await followers()).toEqual(everyChain(1));
    clock.advance(1);
    expect(await followers()).toEqual(everyChain(0));
  });

  it('is followed by one node of each set of keys: nobody else could open again what is theirs', async () => {
    for (const chainId of CHAINS) nodes[0]?.held.add(chainId);
    await followers();
    nodes = [startNode('node-a', ['node-a']), startNode('node-b', ['node-b', 'node-c'])];
    nodes.push(startNode('node-c', ['node-b', 'node-c']));
    expect(await followers()).toEqual(everyChain(2));
  });

  it('is followed while something final of it is to be opened again, by each node that knows of it', async () => {
    for (const { waiting } of nodes) waiting.add(3);
    expect((await followers())[2]).toBe(NODES.length);
    nodes[1]?.waiting.clear();
    expect((await followers())[2]).toBe(NODES.length - 1);
  });

  it('is followed by the one that watched it when the database does not answer, until the hour is over', async () => {
    for (const chainId of CHAINS) nodes[0]?.held.add(chainId);
    await followers();
    nodes[0]?.held.clear();
    clock.advance(30_000);
    await followers();
    activity.isDown = true;
    clock.advance(HOUR - 30_000 - 1);
    expect(await followers()).toEqual(everyChain(1));
    clock.advance(1);
    expect(await followers()).toEqual(everyChain(0));
  });

  it('is noted again at the next look when the database did not answer', async () => {
    const [node] = nodes;
    activity.isDown = true;
    node?.held.add(7);
    await node?.duty.isDue(7);
    activity.isDown = false;
    await node?.duty.isDue(7);
    node?.held.clear();
    clock.advance(30_000);
    expect((await followers())[6]).toBe(1);
  });

  it('is followed by whoever did when the database does not answer', async () => {
    nodes[0]?.held.add(7);
    await followers();
    activity.isDown = true;
    clock.advance(60_000);
    nodes[1]?.held.add(8);
    expect([await nodes[0]?.duty.isDue(7), await nodes[1]?.duty.isDue(8)]).toEqual([true, true]);
  });
});
