import { describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../src/kernel/errors.js';
import { BlockStore } from '../../src/modules/chain/index.js';
import { TxHistory } from '../../src/modules/events/index.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';
import { TxWriter } from '../../src/modules/ledger/domain/tx-writer.js';

const lab = nodeLab();

/** The process ends at this point, once: whatever comes after it does not happen. */
type CrashPoint = 'before a block is applied' | 'after it is applied, before it is stored' | 'after it is stored';

function crash(point: CrashPoint, node: TestNode = lab.node): void {
  const die = (): Promise<never> => Promise.reject(new Unavailable('database_unavailable', `crashed ${point}`, ''));
  const store = node.get(BlockStore);
  const advance = store.advance.bind(store);
  if (point === 'before a block is applied') node.get(TxWriter).save = die;
  if (point === 'after it is applied, before it is stored') store.advance = die;
  if (point === 'after it is stored')
    store.advance = async (...args) => {
      await advance(...args);
      return die();
    };
}

async function restart(): Promise<TestNode> {
  const next = await lab.takeOver();
  await next.step();
  return next;
}

/** Reasons of all events of a tx, without those before it was mined. */
async function reasonsSinceSent(txId: string, by: TestNode): Promise<string[]> {
  const reasons = (await by.get(TxHistory).of(txId)).map(({ reason }) => reason);
  return reasons.slice(reasons.indexOf('sent') + 1).filter((reason) => reason !== 'resubmitted');
}

async function storedHeights(by: TestNode): Promise<number[]> {
  return (await by.get(BlockStore).recent(DEV_CHAIN, 100)).map(({ number }) => number);
}

describe.each<CrashPoint>([
  'before a block is applied',
  'after it is applied, before it is stored',
  'after it is stored',
])('a crash %s', (point) => {
  it('loses no receipt, and nothing is done twice: the next owner goes on by the blocks alone', async () => {
    const txId = await lab.sent(1);
    lab.chain.mineEmpty();
    await lab.node.follow();
    crash(point);
    lab.chain.mine();
    await lab.node.follow().catch(() => undefined);
    expect((await storedHeights(lab.node)).includes(2)).toBe(point === 'after it is stored');

    const next = await restart();
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['MINED']);
    expect(await storedHeights(next)).toEqual([1, 2]);
    lab.chain.mineEmpty(2);
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
    expect(await reasonsSinceSent(txId, next)).toEqual(['mined', 'confirmed']);
  });

  it('loses no reorg, and nothing is taken back twice', async () => {
    const txId = await lab.mined(1);
    crash(point);
    lab.chain.reorg(1);
    await lab.node.follow().catch(() => undefined);

    const next = await restart();
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll(next);
    expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
    expect(await reasonsSinceSent(txId, next)).toEqual(['mined', 'reorg_detected', 'mined', 'confirmed']);
  });

  it('loses no reorg of what was final', async () => {
    const txId = await lab.mined(1);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    crash(point);
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow().catch(() => undefined);

    const next = await restart();
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    expect(await reasonsSinceSent(txId, next)).toEqual(['mined', 'confirmed', 'reorg_detected']);
  });
});

describe('a block whose application fails', () => {
  it.each<CrashPoint>(['before a block is applied', 'after it is applied, before it is stored'])(
    'comes again at the next look of the same node (%s)',
    async (point) => {
      const txId = await lab.sent(1);
      const repository = lab.node.get(TxWriter);
      const store = lab.node.get(BlockStore);
      const [save, advance] = [repository.save, store.advance];
      crash(point);
      lab.chain.mine();
      await lab.node.follow().catch(() => undefined);
      [repository.save, store.advance] = [save, advance];
      await lab.node.follow();
      expect(await lab.states([txId])).toEqual(['MINED']);
      expect(await storedHeights(lab.node)).toEqual([1]);
      expect(await reasonsSinceSent(txId, lab.node)).toEqual(['mined']);
    },
  );
});

// The first one was found by seed 41084 of the simulator: a final tx stayed CONFIRMED by a block that was gone.
describe('blocks that were applied, and not stored before the chain left them', () => {
  /** Follows the chain up to where it is now, and does not come to storing that. */
  async function applyWithoutStoring(): Promise<void> {
    const store = lab.node.get(BlockStore);
    const { advance } = store;
    crash('after it is applied, before it is stored');
    await lab.node.follow().catch(() => undefined);
    store.advance = advance;
  }

  describe.each<[string, () => TestNode | Promise<TestNode>]>([
    ['the same node', () => lab.node],
    ['the next owner, after a crash', restart],
  ])('are found orphaned by %s', (_who, nextNode) => {
    it('when a deep reorg led to them, and another one away from them: what was final there is open again', async () => {
      await lab.node.follow();
      lab.chain.mineEmpty(4);
      await lab.node.follow();
      const txId = await lab.sent(1);
      lab.chain.reorg(3);
      lab.chain.mine();
      lab.chain.mineEmpty(2);
      await applyWithoutStoring();
      expect(await lab.states([txId])).toEqual(['CONFIRMED']);

      lab.chain.reorg(lab.chain.height - 1, { drop: true });
      const next = await nextNode();
      await next.follow();
      expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
      // The lane of a next owner waits until the chain and the books agree (docs/invariants.md, K8), and looks again after a pause.
      await until('it is sent again', async () => {
        await next.step();
        await lab.resubmit(next);
        return lab.chain.pooled().length > 0;
      });
      await lab.confirmAll(next);
      expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
      expect(lab.minedWith(1)).toHaveLength(1);
    });

    it('when they only went on where the chain had been: what was final there is open again', async () => {
      const txId = await lab.sent(1);
      await lab.node.follow();
      lab.chain.mine();
      lab.chain.mineEmpty(2);
      await applyWithoutStoring();
      expect(await lab.states([txId])).toEqual(['CONFIRMED']);

      lab.chain.reorg(3, { drop: true });
      const next = await nextNode();
      await next.follow();
      expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    });

    it('when they had more blocks than there are now: once the chain has as many', async () => {
      const txId = await lab.sent(1);
      await lab.node.follow();
      lab.chain.mineEmpty(6);
      lab.chain.mine();
      lab.chain.mineEmpty(2);
      await applyWithoutStoring();
      expect(await lab.states([txId])).toEqual(['CONFIRMED']);

      lab.chain.reorg(9, { drop: true });
      const honest = lab.chain.head.bind(lab.chain);
      lab.chain.head = async () => (await lab.chain.blocks([2]))[0] ?? honest();
      const next = await nextNode();
      await next.follow();
      expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
      lab.chain.head = honest;
      await next.follow();
      expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    });

    it('before anything is final there: what was mined is sent again at once', async () => {
      await lab.node.follow();
      const txId = await lab.sent(1);
      lab.chain.mine();
      await applyWithoutStoring();
      expect(await lab.states([txId])).toEqual(['MINED']);

      lab.chain.reorg(1, { drop: true });
      const next = await nextNode();
      await next.follow();
      expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    });
  });

  it('are not held for orphaned while they are canonical and another node is behind', async () => {
    await lab.node.follow();
    const txId = await lab.sent(1);
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    const other = await lab.startNode();
    await other.follow();
    lab.chain.mineEmpty(2);
    lab.chain.mine();
    await applyWithoutStoring();
    expect(await lab.states([txId])).toEqual(['MINED']);
    await lab.node.releaseLeases();
    await other.step();
    lab.lag();
    await other.follow();
    expect(await lab.states([txId], other)).toEqual(['MINED']);
    expect(await reasonsSinceSent(txId, other)).toEqual(['mined']);
  });
});

describe('the blocks that are stored', () => {
  it('are canonical again when the chain goes back to them', async () => {
    const store = lab.node.get(BlockStore);
    const header = (number: number, branch: number) => {
      const block = lab.chain.blockAt(number);
      if (!block) throw new Error('the set-up is broken');
      const hash = `0x${branch}${block.hash.slice(3)}` as typeof block.hash;
      return { ...block, hash };
    };
    lab.chain.mineEmpty(2);
    const [one, other] = [header(2, 1), header(2, 2)];
    await store.advance(DEV_CHAIN, [], [one]);
    // Of another node, which does not name what it displaces.
    await store.advance(DEV_CHAIN, [], [other]);
    expect((await store.recent(DEV_CHAIN, 9)).map(({ hash }) => hash)).toEqual([other.hash]);
    expect((await store.orphaned(DEV_CHAIN, 9)).map(({ hash }) => hash)).toEqual([one.hash]);
    await store.advance(DEV_CHAIN, [other.hash], [one]);
    expect((await store.recent(DEV_CHAIN, 9)).map(({ hash }) => hash)).toEqual([one.hash]);
    expect((await store.orphaned(DEV_CHAIN, 9)).map(({ hash }) => hash)).toEqual([other.hash]);
  });

  it('that were taken back are told as far back as is asked, and forgotten below a height', async () => {
    await lab.node.follow();
    lab.chain.mineEmpty(4);
    await lab.node.follow();
    const store = lab.node.get(BlockStore);
    lab.chain.reorg(4);
    await lab.node.follow();
    const heights = async (depth: number): Promise<number[]> =>
      (await store.orphaned(DEV_CHAIN, depth)).map(({ number }) => number).sort();
    // The head is 5.
    expect([await heights(1), await heights(2), await heights(9)]).toEqual([[], [4], [1, 2, 3, 4]]);
    await store.forgetBelow(DEV_CHAIN, 3);
    expect([await heights(9), await storedHeights(lab.node)]).toEqual([
      [3, 4],
      [3, 4, 5],
    ]);
  });
});
