import { beforeEach, describe, expect, it } from '@jest/globals';
import { AdvanceHead } from '../../../src/modules/chain/application/advance-head.js';
import { RecentBlocks } from '../../../src/modules/chain/domain/recent-blocks.js';
import { type ChainUpdate, RpcUnavailable } from '../../../src/modules/chain/index.js';
import type { BlockHeader } from '../../../src/modules/chain/domain/block.js';
import type { LogFields } from '../../../src/platform/logging/log.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain } from '../../support/model-chain.js';
import { readableLog } from '../platform/log-lines.js';

/** More blocks than are walked. */
const LONG_GAP = 1_100;

let chain: ModelChain;
let recent: RecentBlocks;
let lines: LogFields[];
let advanceHead: AdvanceHead;
let clock: FakeClock;

beforeEach(() => {
  chain = new ModelChain();
  recent = new RecentBlocks(2_048);
  const readable = readableLog('warn');
  lines = readable.lines;
  clock = new FakeClock();
  advanceHead = new AdvanceHead(readable.log, clock);
});

describe('a walk', () => {
  it('reads fifty blocks at a time', async () => {
    await followed(1);
    chain.mineEmpty(51);
    const numbers = Array.from({ length: 50 }, (_, n) => ({ number: n + 2 }));
    expect(await step()).toMatchObject({ head: 51, blocks: numbers });
    expect(await step()).toMatchObject({ head: 52, blocks: [{ number: 52 }] });
  });
});

describe('when a block was not there yet', () => {
  it('is when the head was last asked for and was below it, also where more than one block came since, or an endpoint lags', async () => {
    await followed(10);
    clock.advance(250);
    const withoutAt = clock.monotonicMs();
    await step();
    clock.advance(250);
    chain.mineEmpty(51);
    for (let looks = 0; looks < 3; looks += 1) {
      await step();
      clock.advance(250);
    }
    expect([11, 61, 62].map((height) => advanceHead.lastWithout(chain.chainId, height))).toEqual([
      withoutAt,
      withoutAt,
      clock.monotonicMs() - 250,
    ]);
  });
});

describe('a gap that is too long to walk', () => {
  it('orphans the followed blocks that the node has other blocks for', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });

  it('orphans nothing when the chain has only grown', async () => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('is a gap of more than 1,000 blocks', async () => {
    await followed(10);
    chain.mineEmpty(1_000);
    expect(await step()).toMatchObject({ gap: false, head: 60 });
    chain.mineEmpty(51);
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, blocks: [{ number: 1_061 }] });
  });

  it('is not jumped for a head that was reported once', async () => {
    await followed(10);
    const [honestHead, honestBlocks] = [chain.head.bind(chain), chain.blocks.bind(chain)];
    const tip = await honestHead();
    const mad = { ...tip, number: 0xffffff, transactionHashes: [], listsAll: true };
    chain.head = async () => mad;
    chain.blocks = async (numbers) => numbers.map((number) => (number === mad.number ? mad : null));
    expect(await step()).toBeNull();
    [chain.head, chain.blocks] = [honestHead, honestBlocks];
    chain.mineEmpty(1);
    expect(await step()).toMatchObject({ gap: false, blocks: [{ number: 11 }] });
    chain.mineEmpty(LONG_GAP);
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('is not jumped for two heads of different chains', async () => {
    await followed(10);
    const honest = await chain.head();
    const mad = (number: number) => ({ ...honest, number, transactionHashes: [], listsAll: true, hash: aHash(number) });
    for (let n = 0xffff; n < 0xffff + 3; n += 1) {
      chain.head = async () => mad(n);
      chain.blocks = async (numbers) =>
        numbers.map((number) => ({ ...mad(number), hash: number === n ? aHash(n) : honest.hash }));
      expect(await step()).toBeNull();
    }
    expect(recent.tip).toBe(10);
  });

  it('needs two observations again after a head that could be walked to', async () => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.head.bind(chain);
    const [near] = await chain.blocks([11]);
    expect(await step()).toBeNull();
    chain.head = async () => near ?? honest();
    expect(await step()).toMatchObject({ gap: false, blocks: [{ number: 11 }] });
    chain.head = honest;
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('needs two observations for each jump', async () => {
    await followed(10);
    for (let gaps = 0; gaps < 2; gaps += 1) {
      chain.mineEmpty(LONG_GAP);
      expect(await step()).toBeNull();
      expect(await step()).toMatchObject({ gap: true, orphaned: [] });
    }
  });

  it('is not jumped while the node does not have the followed blocks, which is logged once', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block && block.number <= 10 ? null : block));
    for (let n = 0; n < 3; n += 1) expect(await step()).toBeNull();
    expect(warnings()).toEqual(['failed to fetch the followed blocks, cannot tell whether a reorg replaced them']);
    chain.blocks = honest;
    expect(await step()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });

  it.each<[string, () => null]>([
    ['has them', () => null],
    [
      'has anything but an error for them',
      () => {
        throw new RpcUnavailable('rpc_unavailable', { chainId: 1, method: 'blocks' }, 'pruned history unavailable');
      },
    ],
  ])('is jumped, and logged as an error, after thirty observations when no node %s', async (_words, pruned) => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block && block.number <= 10 ? pruned() : block));
    for (let n = 0; n < 31; n += 1) expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [] });
    expect(warnings()).toContain('no endpoint has the followed blocks, a reorg of final transactions may be missed');
  });

  it('loses no orphaned block when the node does not have the head yet', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    const { number: head } = await chain.head();
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) => (await honest(numbers)).map((block) => (block?.number === head ? null : block));
    expect(await step()).toBeNull();
    chain.blocks = honest;
    expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });
});

describe('a reorg of all blocks that were followed', () => {
  it('is a gap: the blocks between the branches are not read', async () => {
    chain.mineEmpty(10);
    await step();
    chain.reorg(5);
    expect(await step()).toMatchObject({ gap: true, orphaned: [{ number: 10 }], blocks: [{ number: 11 }] });
  });

  it('is no gap while one followed block is left', async () => {
    await followed(10);
    chain.reorg(5);
    expect(await step()).toMatchObject({ gap: false, blocks: [6, 7, 8, 9, 10, 11].map((number) => ({ number })) });
  });
});

describe('a head below all blocks that were followed', () => {
  it('orphans nothing, and is logged once each time that it happens', async () => {
    chain.mineEmpty(10);
    await step();
    const honest = chain.head.bind(chain);
    const [low] = await chain.blocks([3]);
    for (let times = 0; times < 2; times += 1) {
      chain.head = async () => low ?? honest();
      expect(await step()).toBeNull();
      expect(await step()).toBeNull();
      chain.head = honest;
      expect(await step()).toBeNull();
    }
    expect(warnings()).toHaveLength(2);
    expect(lines[0]).toMatchObject({ head: 3, lowest: 10 });
    chain.mineEmpty(1);
    expect(await step()).toMatchObject({ blocks: [{ number: 11 }], orphaned: [] });
  });

  it('is followed when it stays, and orphans nothing', async () => {
    chain.mineEmpty(10);
    await step();
    const [low] = await chain.blocks([3]);
    if (!low) throw new Error('there is a block 3');
    chain.head = async () => low;
    for (let n = 0; n < 30; n += 1) expect(await step()).toBeNull();
    expect(await step()).toMatchObject({ gap: true, orphaned: [], blocks: [{ number: 3 }] });
    expect(await step()).toBeNull();
  });

  it('is not followed as long as the node does not have its block', async () => {
    chain.mineEmpty(10);
    await step();
    const [low] = await chain.blocks([3]);
    if (!low) throw new Error('there is a block 3');
    chain.head = async () => low;
    const honest = chain.blocks;
    chain.blocks = async (numbers) => numbers.map(() => null);
    for (let n = 0; n < 35; n += 1) expect(await step()).toBeNull();
    chain.blocks = honest;
    expect(await step()).toMatchObject({ gap: true, blocks: [{ number: 3 }] });
  });
});

describe('a reorg', () => {
  it('is walked fifty blocks at a time, and reports no head above them', async () => {
    await followed(10);
    chain.reorg(2);
    chain.mineEmpty(60);
    expect(await step()).toMatchObject({ head: 58, orphaned: [{ number: 9 }, { number: 10 }] });
    expect(recent.tip).toBe(58);
  });

  it('is detected when the new head is lower than the followed tip', async () => {
    await followed(10);
    const other = new ModelChain();
    other.mineEmpty(5);
    other.reorg(2);
    [chain.head, chain.blocks] = [other.head.bind(other), other.blocks.bind(other)];
    expect(await step()).toMatchObject({ head: 6, blocks: [{ number: 4 }, { number: 5 }, { number: 6 }] });
    expect(recent.tip).toBe(6);
  });

  it('orphans nothing while the node does not have each block that may be orphaned', async () => {
    await followed(10);
    chain.reorg(2);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) => (await honest(numbers)).map((block) => (block?.number === 8 ? null : block));
    expect(await step()).toBeNull();
    expect(recent.tip).toBe(10);
    chain.blocks = honest;
    expect(await step()).toMatchObject({ orphaned: [{ number: 9 }, { number: 10 }] });
  });

  it('is not what a lower head on the same branch means', async () => {
    await followed(10);
    const [low] = await chain.blocks([7]);
    const honest = chain.head.bind(chain);
    chain.head = async () => low ?? honest();
    expect(await step()).toBeNull();
    expect(recent.tip).toBe(10);
  });
});

describe('a height without a block', () => {
  it('is gone over: the parent of the next block tells', async () => {
    await followed(4);
    leaveOut(6);
    chain.mineEmpty(3);
    expect(await step()).toMatchObject({
      head: 8,
      blocks: [{ number: 5 }, { number: 7 }, { number: 8 }],
      orphaned: [],
    });
    expect(await step()).toBeNull();
  });

  it('is no such height while the parent of the next block is another: the endpoint does not have it yet', async () => {
    await followed(4);
    chain.mineEmpty(3);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) => (await honest(numbers)).map((block) => (block?.number === 6 ? null : block));
    expect(await step()).toMatchObject({ head: 5, blocks: [{ number: 5 }], orphaned: [] });
    expect(await step()).toBeNull();
    chain.blocks = honest;
    expect(await step()).toMatchObject({ head: 7, blocks: [{ number: 6 }, { number: 7 }] });
  });

  it('orphans the block that was followed there', async () => {
    await followed(10);
    chain.reorg(3);
    leaveOut(9);
    expect(await step()).toMatchObject({
      blocks: [{ number: 8 }, { number: 10 }, { number: 11 }, { number: 12 }],
      orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }],
    });
  });

  it('does not hide a reorg above it', async () => {
    leaveOut(6);
    await followed(10);
    chain.reorg(2);
    expect(await step()).toMatchObject({ head: 12, orphaned: [{ number: 10 }, { number: 11 }] });
  });
});

describe('a block that is no child of the followed tip, which is canonical all the same', () => {
  const WRONG = aHash(666);
  const lies = (change: (block: BlockHeader) => BlockHeader | null): void => {
    const blocks = chain.blocks.bind(chain);
    chain.blocks = async (numbers) =>
      (await blocks(numbers)).map((block) => block && change(block) && { ...block, ...change(block) });
  };

  it.each<[string, string, (block: BlockHeader) => BlockHeader | null]>([
    [
      'kkrt-labs/kakarot-rpc#1333',
      'one wrong parent',
      (block) => (block.number === 12 ? { ...block, parentHash: WRONG } : block),
    ],
    [
      'cosmos/ethermint#721, sei-protocol/sei-chain#4289',
      'wrong parents only',
      (block) => ({ ...block, parentHash: WRONG }),
    ],
    [
      'onflow/flow-evm-gateway#766, erigontech/erigon#3805',
      'a block that was lost',
      (block) => (block.number === 12 ? null : block),
    ],
  ])('%s: %s does not stop the tracker for ever, and it says so', async (_source, _what, change) => {
    await followed(10);
    lies(change);
    chain.mineEmpty(5);
    const updates: ChainUpdate[] = [];
    for (let n = 0; n < 40; n += 1) updates.push(...[(await step()) ?? []].flat());
    expect(updates.at(-1)).toMatchObject({ gap: true, head: 15, orphaned: [] });
    expect(updates.flatMap(({ orphaned }) => orphaned)).toEqual([]);
    expect(warnings()).toEqual([expect.stringContaining('no child of the followed tip')]);
    chain.reorg(1);
    for (let n = 0; n < 40; n += 1) updates.push(...[(await step()) ?? []].flat());
    expect(updates.flatMap(({ orphaned }) => orphaned)).toMatchObject([{ number: 15 }]);
  });

  it.each<[string, number]>([
    ['whose head is followed already', 10],
    ['whose head is below the followed tip', 7],
    ['that does not have the next blocks yet', 15],
  ])('is stepped over although every other look is answered by an endpoint %s', async (_which, head) => {
    await followed(10);
    lies((block) => ({ ...block, parentHash: WRONG }));
    chain.mineEmpty(5);
    const [honestHead, honestBlocks] = [chain.head.bind(chain), chain.blocks.bind(chain)];
    const [known] = await chain.blocks([head]);
    let looks = 0;
    const lags = (): boolean => looks % 2 === 1;
    chain.head = async () => (lags() ? known : null) ?? honestHead();
    chain.blocks = async (numbers) =>
      (await honestBlocks(numbers)).map((block) => (lags() && block && block.number > 10 ? null : block));
    const updates: ChainUpdate[] = [];
    for (; updates.length === 0 && looks < 80; looks += 1) updates.push(...[(await step()) ?? []].flat());
    expect(updates).toMatchObject([{ gap: true, head: 15, orphaned: [] }]);
    expect(warnings()).toEqual([expect.stringContaining('no child of the followed tip')]);
  });

  it('is waited for when it is replaced in time', async () => {
    await followed(10);
    const honest = chain.blocks;
    lies((block) => ({ ...block, parentHash: WRONG }));
    chain.mineEmpty(2);
    for (let n = 0; n < 20; n += 1) expect(await step()).toBeNull();
    chain.blocks = honest;
    expect(await step()).toMatchObject({ gap: false, blocks: [{ number: 11 }, { number: 12 }] });
  });
});

/** From this height on the chain shows its blocks one higher. */
function leaveOut(height: number): void {
  const [head, blocks] = [chain.head.bind(chain), chain.blocks.bind(chain)];
  const higher = <T extends BlockHeader>(block: T): T => ({
    ...block,
    number: block.number + Number(block.number >= height),
  });
  chain.head = async () => higher(await head());
  chain.blocks = async (numbers) => {
    const shown = await blocks(numbers.map((number) => number - Number(number > height)));
    return shown.map((block, i) => (block === null || numbers[i] === height ? null : higher(block)));
  };
}

function step(): Promise<ChainUpdate | null> {
  return advanceHead.execute(chain, recent);
}

/** Follows every block from the genesis on. */
async function followed(blocks: number): Promise<void> {
  await step();
  chain.mineEmpty(blocks);
  await step();
}

function warnings(): unknown[] {
  return lines.map(({ msg }) => msg).filter((message) => message !== 'reorg');
}
