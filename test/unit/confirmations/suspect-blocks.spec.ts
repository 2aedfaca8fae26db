import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Block, type BlockRef, BlockStore, type ChainUpdate } from '../../../src/modules/chain/index.js';
import { FindReorgedFinals } from '../../../src/modules/confirmations/application/find-reorged-finals.js';
import { type Suspects, SuspectBlocks } from '../../../src/modules/confirmations/application/suspect-blocks.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, DEV_CHAIN } from '../../support/builders.js';
import { FakeWatch } from '../../support/fakes/fake-watch.js';

const [LOW, HIGH] = [5, 6].map((number): BlockRef => ({ number, hash: aHash(number) })) as [BlockRef, BlockRef];

/** Blocks that are stored as taken back, by whichever node. */
let stored: BlockRef[];
let lookBacks: number[];
/** Blocks of final txs below those that were followed, and whether a reorg was said to reach there, for each look. */
let below: BlockRef[];
let mayReachBelow: boolean[];
let isLookingBelow: boolean;
let searchesKept: number;
let suspects: SuspectBlocks;
let watch: FakeWatch;

beforeEach(() => {
  [stored, lookBacks, below, mayReachBelow, isLookingBelow, searchesKept] = [[], [], [], [], false, 0];
  watch = new FakeWatch();
  suspects = new SuspectBlocks(
    fakeOf(BlockStore, {
      orphaned: async (chainId, lookBack) => (lookBacks.push(lookBack), chainId === DEV_CHAIN ? stored : []),
    }),
    fakeOf(FindReorgedFinals, {
      execute: async (_, isSuspected) => {
        mayReachBelow.push(isSuspected);
        return { gone: below, keep: () => (searchesKept += 1) };
      },
      isWaiting: () => isLookingBelow,
    }),
    watch.asWatch(),
  );
});

const after = (update: Partial<ChainUpdate> = {}): Promise<Suspects> =>
  suspects.after({ chainId: DEV_CHAIN, head: 9, gap: false, blocks: [], orphaned: [], ...update });
const keptAfter = async (update: Partial<ChainUpdate> = {}): Promise<void> => (await after(update)).keep();

async function heights(update: Partial<ChainUpdate> = {}): Promise<number[]> {
  return [...(await after(update)).blocks.values()];
}

describe('blocks that were taken back', () => {
  it('are suspects with every update until they are dealt with', async () => {
    const { blocks, lowest, hasNew, keep } = await after({ orphaned: [HIGH, LOW] });
    expect([[...blocks.values()], lowest, hasNew]).toEqual([[6, 5], 5, true]);
    keep();
    expect(suspects.isWaiting(DEV_CHAIN)).toBe(true);
    expect(await after()).toMatchObject({ lowest: 5, hasNew: false });
    blocks.clear();
    expect(await after()).toMatchObject({ lowest: null, hasNew: false });
    expect(suspects.isWaiting(DEV_CHAIN)).toBe(false);
  });

  it('are suspects again after the database lost commits, also when an update ends later that began before', async () => {
    stored = [LOW];
    const before = await after();
    before.blocks.clear();
    before.keep();
    expect(await heights()).toEqual([]);
    const meanwhile = await after();
    watch.newEpoch();
    meanwhile.keep();
    expect(await after()).toMatchObject({ lowest: 5, hasNew: true });
  });

  it('are as new as before when the update comes again after a failure', async () => {
    stored = [LOW];
    await after({ orphaned: [HIGH] });
    expect(suspects.isWaiting(DEV_CHAIN)).toBe(false);
    expect(await after()).toMatchObject({ lowest: 5, hasNew: true });
  });

  it('by another node are suspects once: what is stored is no news when it is read again', async () => {
    stored = [LOW];
    const { blocks, hasNew, keep } = await after();
    expect([[...blocks.values()], hasNew]).toEqual([[5], true]);
    blocks.clear();
    keep();
    stored = [LOW, HIGH];
    expect([await heights(), lookBacks]).toEqual([[6], [64, 64]]);
  });

  it('and are stored by this node with the next update are no news then', async () => {
    const { blocks, keep } = await after({ orphaned: [HIGH] });
    blocks.clear();
    keep();
    stored = [HIGH];
    expect(await after()).toMatchObject({ lowest: null, hasNew: false });
  });

  it('are no suspects once they are followed again, but only when that update is dealt with', async () => {
    await keptAfter({ orphaned: [LOW, HIGH] });
    const again = { blocks: [HIGH as Block] };
    expect(await heights(again)).toEqual([5]);
    expect(await heights()).toEqual([5, 6]);
    await keptAfter(again);
    expect(await heights()).toEqual([5]);
  });

  it('are of their own chain', async () => {
    await keptAfter({ orphaned: [LOW] });
    expect(suspects.isWaiting(DEV_CHAIN + 1)).toBe(false);
    expect(await heights({ chainId: DEV_CHAIN + 1 })).toEqual([]);
  });
});

describe('below the blocks that were followed', () => {
  it.each([
    ['when another node followed those that are gone', true, { stored: [LOW], update: {} }],
    ['when all that this node followed is gone', true, { stored: [], update: { gap: true, orphaned: [LOW] } }],
    ['not when the reorg ends among the followed blocks', false, { stored: [], update: { orphaned: [LOW] } }],
    ['not when this node has stored them itself', false, { stored: [LOW], update: { orphaned: [LOW] } }],
    ['not after a gap without a reorg', false, { stored: [], update: { gap: true } }],
  ])('a reorg may have reached %s', async (_words, expected, given) => {
    stored = given.stored;
    await after(given.update);
    expect(mayReachBelow).toEqual([expected]);
  });

  it('what is found is suspected, too', async () => {
    below = [{ number: 2, hash: aHash(2) }];
    expect(await after({ orphaned: [LOW] })).toMatchObject({ lowest: 2, hasNew: true });
  });

  it('is searched again when the update failed, for the search was not dealt with', async () => {
    const { keep } = await after({ orphaned: [LOW] });
    expect(searchesKept).toBe(0);
    keep();
    expect(searchesKept).toBe(1);
  });

  it('the chain is to be followed on while it is not known what is there', () => {
    isLookingBelow = true;
    expect(suspects.isWaiting(DEV_CHAIN)).toBe(true);
  });
});
