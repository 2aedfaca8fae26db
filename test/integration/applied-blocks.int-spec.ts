import { describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../src/kernel/errors.js';
import { BlockStore } from '../../src/modules/chain/index.js';
import { TxHistory } from '../../src/modules/events/index.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';
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
