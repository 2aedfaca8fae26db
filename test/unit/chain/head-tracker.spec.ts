import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import { type BlockRef, type ChainUpdate, HeadTracker, BlockStore } from '../../../src/modules/chain/index.js';
import type { StoredBlock } from '../../../src/modules/chain/domain/block-store.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from './chain-fixture.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeWatch } from '../../support/fakes/fake-watch.js';

/** Has the blocks that others stored; records its calls in their order. */
class RecordingBlockStore extends BlockStore {
  stored: StoredBlock[] = [];
  readonly calls: string[] = [];
  readonly orphanedHashes: Hash[] = [];
  fails = false;
  begun: BlockRef[] = [];
  readonly beginCalls: string[] = [];
  beginFails = false;

  async recent(): Promise<StoredBlock[]> {
    return this.stored;
  }

  async begin(_chain: number, blocks: readonly { readonly number: number }[], above: number): Promise<BlockRef[]> {
    if (this.beginFails) throw new Error('the database is away');
    this.beginCalls.push(`${blocks.map(({ number }) => number).join()} above ${above}`);
    return this.begun;
  }

  async orphaned(): Promise<{ number: number; hash: Hash }[]> {
    return [];
  }

  async advance(
    _chain: number,
    orphaned: readonly Hash[],
    blocks: readonly { readonly number: number }[],
  ): Promise<void> {
    this.orphanedHashes.push(...orphaned);
    this.calls.push(`store ${blocks.map(({ number }) => number).join()} without ${orphaned.length}`);
    if (this.fails) throw new Error('the database is away');
  }

  async forgetBelow(_chain: number, number: number): Promise<void> {
    this.calls.push(`forget below ${number}`);
  }
}

let chain: ModelChain;
let tracker: HeadTracker;
let store: RecordingBlockStore;
let watch: FakeWatch;
let clock: FakeClock;

beforeEach(() => {
  chain = new ModelChain();
  store = new RecordingBlockStore();
  watch = new FakeWatch();
  clock = new FakeClock();
  tracker = new HeadTracker(new ModelChains(chain), store, clock, new RecordingLog(), watch.asWatch());
});

describe('HeadTracker.execute', () => {
  it('applies an update before it stores it', async () => {
    chain.mineEmpty(1);
    await tracker.execute(chain.chainId, async () => void store.calls.push('apply'));
    expect(store.calls).toEqual(['apply', 'store 1 without 0']);
  });

  it('stores the new blocks as begun before it applies them, and not those that it has', async () => {
    await followed(3);
    chain.mineEmpty(2);
    store.beginCalls.length = 0;
    await tracker.execute(chain.chainId, async () => expect(store.beginCalls).toEqual(['4,5 above -59']));
    expect(store.beginCalls).toHaveLength(1);
    expect(await step()).toBeNull();
    expect(store.beginCalls).toHaveLength(1);
  });

  it('applies nothing when it could not store that first', async () => {
    chain.mineEmpty(1);
    store.beginFails = true;
    await expect(step()).rejects.toThrow('the database is away');
    expect(store.calls).toEqual([]);
    store.beginFails = false;
    expect(await step()).toMatchObject({ blocks: [{ number: 1 }] });
  });

  it('holds blocks that were begun and left for orphaned, but none that it follows, or that it cannot know', async () => {
    await followed(3);
    chain.mineEmpty(2);
    const [third, fifth] = await chain.blocks([3, 5]);
    const other = (number: number): BlockRef => ({ number, hash: aHash(900 + number) });
    const same = [third, fifth].flatMap((block) => block ?? []);
    store.begun = [...same, other(2), other(5), other(6)];
    const update = await step();
    expect(update?.orphaned).toEqual([other(2), other(5)]);
    expect(store.orphanedHashes).toEqual([other(2).hash, other(5).hash]);
  });

  it('answers whether something was new', async () => {
    chain.mineEmpty(1);
    expect(await tracker.execute(chain.chainId, async () => undefined)).toBe(true);
    expect(await tracker.execute(chain.chainId, async () => undefined)).toBe(false);
  });

  it('knows the hash of a block after it has followed it', async () => {
    expect([tracker.hashAt(chain.chainId, 1), tracker.appliedTip(chain.chainId)]).toEqual([null, null]);
    await followed(1);
    expect(tracker.hashAt(chain.chainId, 1)).toBe((await chain.head()).hash);
    expect(tracker.hashAt(chain.chainId, 2)).toBeNull();
  });

  it('counts as followed when it was applied, and not before: what it changes is not written down yet', async () => {
    await followed(3);
    const old = await chain.head();
    const standings = (of: readonly BlockRef[]) => of.map((block) => tracker.isFollowed(chain.chainId, block));
    chain.reorg(1);
    const [third, fourth] = await chain.blocks([3, 4]);
    const blocks = [old, third, fourth].flatMap((block) => block ?? []);
    let during: readonly unknown[] = [];
    const seen = (): readonly unknown[] => [...standings(blocks), tracker.appliedTip(chain.chainId)];
    await tracker.execute(chain.chainId, async () => void (during = seen()));
    expect([during, seen()]).toEqual([
      [false, null, null, 3],
      [false, true, true, 4],
    ]);
  });

  it('stays followed when it is older than all that is remembered', async () => {
    await followed(3);
    const old = await chain.head();
    chain.mineEmpty(1_100);
    await step();
    await step();
    expect([tracker.hashAt(chain.chainId, 3), tracker.isFollowed(chain.chainId, old)]).toEqual([null, true]);
  });

  it('does not store an update that could not be applied, and delivers it again', async () => {
    await followed(3);
    store.calls.length = 0;
    chain.mineEmpty(1);
    const failing = tracker.execute(chain.chainId, () => Promise.reject(new Error('a bug')));
    await expect(failing).rejects.toThrow('a bug');
    expect([store.calls, tracker.tip(chain.chainId)]).toEqual([[], 3]);
    expect(await step()).toMatchObject({ blocks: [{ number: 4 }], orphaned: [] });
  });

  it('delivers an update again that could not be stored, with its reorg', async () => {
    await followed(3);
    chain.reorg(1);
    store.fails = true;
    await expect(step()).rejects.toThrow('the database is away');
    store.fails = false;
    expect(tracker.hashAt(chain.chainId, 3)).not.toBe((await chain.head()).hash);
    expect(await step()).toMatchObject({ blocks: [{ number: 3 }, { number: 4 }], orphaned: [{ number: 3 }] });
  });

  it('finds a reorg again that it followed, when the database lost what that changed', async () => {
    await followed(3);
    const old = await chain.blocks([2, 3]);
    store.stored = (await chain.blocks([1, 2, 3])).flatMap((block) => block ?? []);
    chain.reorg(2);
    const orphaned: Hash[][] = [];
    const apply = async (update: ChainUpdate): Promise<void> =>
      void orphaned.push(update.orphaned.map(({ hash }) => hash));
    await tracker.execute(chain.chainId, apply);
    watch.newEpoch();
    await tracker.execute(chain.chainId, apply);
    const hashes = old.flatMap((block) => block?.hash ?? []).sort();
    expect(orphaned.map((some) => some.sort())).toEqual([hashes, hashes]);
  });

  it('finds the reorg of blocks that another node followed while its own first steps failed', async () => {
    chain.mineEmpty(1);
    const failing = tracker.execute(chain.chainId, () => Promise.reject(new Error('a bug')));
    await expect(failing).rejects.toThrow('a bug');
    chain.mineEmpty(2);
    store.stored = (await chain.blocks([1, 2, 3])).flatMap((block) => block ?? []);
    chain.reorg(2);
    await tracker.execute(chain.chainId, async () => undefined);
    expect(store.orphanedHashes).toHaveLength(2);
  });

  it('has what lies far below it deleted when old blocks are pruned, once', async () => {
    await followed(10);
    expect(store.calls).not.toContainEqual(expect.stringContaining('forget'));
    store.calls.length = 0;
    await tracker.prune();
    await tracker.prune();
    expect(store.calls).toEqual([`forget below ${10 - 2_048}`]);
    chain.mineEmpty(1);
    await step();
    await tracker.prune();
    expect(store.calls.slice(1)).toEqual(['store 11 without 0', `forget below ${11 - 2_048}`]);
  });

  it('has nothing deleted while it could not be stored', async () => {
    await followed(3);
    await tracker.prune();
    store.calls.length = 0;
    store.fails = true;
    chain.mineEmpty(1);
    await expect(step()).rejects.toThrow('the database is away');
    await tracker.prune();
    expect(store.calls).toEqual(['store 4 without 0']);
  });

  it('stores the hashes of the orphaned blocks', async () => {
    await followed(10);
    const orphaned = [9, 10].map((number) => tracker.hashAt(chain.chainId, number));
    chain.reorg(2);
    await step();
    expect(store.orphanedHashes).toEqual(orphaned);
  });
});

/** One step of the head tracker; null when nothing is new. */
async function step(): Promise<ChainUpdate | null> {
  let found: ChainUpdate | null = null;
  await tracker.execute(chain.chainId, async (update) => {
    found = update;
  });
  return found;
}

/** Follows every block from the genesis on. */
async function followed(blocks: number): Promise<void> {
  await step();
  chain.mineEmpty(blocks);
  await step();
}
