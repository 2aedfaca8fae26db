import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import type { Hash } from '../../../src/kernel/hex.js';
import { type ChainUpdate, HeadTracker, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { BlockStore, type StoredBlock } from '../../../src/modules/chain/domain/block-store.js';
import type { LogFields } from '../../../src/platform/logging/log.js';
import { aHash } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { readableLog } from '../platform/log-lines.js';

/** A chain that was never followed before; remembers what is stored, in the order of the calls. */
class RecordingBlockStore extends BlockStore {
  readonly calls: string[] = [];
  readonly gone: Hash[] = [];
  fails = false;

  async recent(): Promise<StoredBlock[]> {
    return [];
  }

  async orphaned(): Promise<{ number: number; hash: Hash }[]> {
    return [];
  }

  async advance(
    _chain: number,
    orphaned: readonly Hash[],
    blocks: readonly { readonly number: number }[],
  ): Promise<void> {
    this.gone.push(...orphaned);
    this.calls.push(`store ${blocks.map(({ number }) => number).join()} without ${orphaned.length}`);
    if (this.fails) throw new Error('the database is away');
  }

  async forgetBelow(_chain: number, number: number): Promise<void> {
    this.calls.push(`forget below ${number}`);
  }
}

/** More blocks than are walked. */
const LONG_GAP = 1_100;

let chain: ModelChain;
let follow: HeadTracker;
let store: RecordingBlockStore;
let lines: LogFields[];
let config: ConfirmationsConfig;

beforeEach(() => {
  chain = new ModelChain();
  const readable = readableLog('warn');
  lines = readable.lines;
  config = new ConfirmationsConfig();
  store = new RecordingBlockStore();
  follow = new HeadTracker(new ModelChains(chain), store, config, readable.log);
});

describe('a gap that is too long to walk', () => {
  it('takes back what the node has other blocks for, of what was followed before', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });

  it('takes nothing back when the chain has only grown', async () => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('is what is more than blockQueueLength', async () => {
    await followed(10);
    config.blockQueueLength = 5;
    chain.mineEmpty(5);
    expect(await look()).toMatchObject({ gap: false });
    chain.mineEmpty(6);
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, blocks: [{ number: 21 }] });
  });

  it('is not jumped for a head that was told once: another look has to find it on the same chain', async () => {
    await followed(10);
    const [honestHead, honestBlocks] = [chain.head.bind(chain), chain.blocks.bind(chain)];
    const tip = await honestHead();
    const mad = { ...tip, number: 0xffffff, transactionHashes: [] };
    chain.head = async () => mad;
    chain.blocks = async (numbers) => numbers.map((number) => (number === mad.number ? mad : null));
    expect(await look()).toBeNull();
    [chain.head, chain.blocks] = [honestHead, honestBlocks];
    chain.mineEmpty(1);
    expect(await look()).toMatchObject({ gap: false, blocks: [{ number: 11 }] });
    chain.mineEmpty(LONG_GAP);
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('is not jumped for two heads of which the one does not lead to the other', async () => {
    await followed(10);
    const honest = await chain.head();
    const mad = (number: number) => ({ ...honest, number, transactionHashes: [], hash: aHash(number) });
    for (let n = 0xffff; n < 0xffff + 3; n += 1) {
      chain.head = async () => mad(n);
      chain.blocks = async (numbers) =>
        numbers.map((number) => ({ ...mad(number), hash: number === n ? aHash(n) : honest.hash }));
      expect(await look()).toBeNull();
    }
    expect(follow.tip(chain.chainId)).toBe(10);
  });

  it('takes two looks anew when a head in between was near again', async () => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.head.bind(chain);
    const [near] = await chain.blocks([11]);
    expect(await look()).toBeNull();
    chain.head = async () => near ?? honest();
    expect(await look()).toMatchObject({ gap: false, blocks: [{ number: 11 }] });
    chain.head = honest;
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [] });
  });

  it('takes two looks again after it was jumped', async () => {
    await followed(10);
    for (let gaps = 0; gaps < 2; gaps += 1) {
      chain.mineEmpty(LONG_GAP);
      expect(await look()).toBeNull();
      expect(await look()).toMatchObject({ gap: true, orphaned: [] });
    }
  });

  it('is not jumped while the node does not have the blocks before it, which is said once', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block && block.number <= 10 ? null : block));
    for (let n = 0; n < 3; n += 1) expect(await look()).toBeNull();
    expect(warnings()).toEqual(['the node does not have the blocks that were followed last']);
    chain.blocks = honest;
    expect(await look()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });

  it.each<[string, () => null]>([
    ['has them', () => null],
    [
      'has anything but an error for them',
      () => {
        throw new RpcUnavailable('rpc_unavailable', { chainId: 1, method: 'blocks' }, 'pruned history unavailable');
      },
    ],
  ])('is jumped all the same, loudly, when nobody %s at thirty looks', async (_words, pruned) => {
    await followed(10);
    chain.mineEmpty(LONG_GAP);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block && block.number <= 10 ? pruned() : block));
    for (let n = 0; n < 31; n += 1) expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [] });
    expect(warnings()).toContain('whether a reorg took back what was final is not known: no node has its blocks');
  });

  it('loses nothing when the node does not have the head yet', async () => {
    await followed(10);
    chain.reorg(3);
    chain.mineEmpty(LONG_GAP);
    const { number: head } = await chain.head();
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) => (await honest(numbers)).map((block) => (block?.number === head ? null : block));
    expect(await look()).toBeNull();
    chain.blocks = honest;
    expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [{ number: 8 }, { number: 9 }, { number: 10 }] });
  });
});

describe('a reorg of all blocks that were followed', () => {
  it('is a gap, for nobody looks at the blocks between the branches', async () => {
    chain.mineEmpty(10);
    await look();
    chain.reorg(5);
    expect(await look()).toMatchObject({ gap: true, orphaned: [{ number: 10 }], blocks: [{ number: 11 }] });
  });

  it('is none while one of them is left', async () => {
    await followed(10);
    chain.reorg(5);
    expect(await look()).toMatchObject({ gap: false, blocks: [6, 7, 8, 9, 10, 11].map((number) => ({ number })) });
  });
});

describe('a head below all blocks that were followed', () => {
  it('takes nothing back, and is said once each time that it happens', async () => {
    chain.mineEmpty(10);
    await look();
    const honest = chain.head.bind(chain);
    const [low] = await chain.blocks([3]);
    for (let times = 0; times < 2; times += 1) {
      chain.head = async () => low ?? honest();
      expect(await look()).toBeNull();
      expect(await look()).toBeNull();
      chain.head = honest;
      expect(await look()).toBeNull();
    }
    expect(warnings()).toHaveLength(2);
    expect(lines[0]).toMatchObject({ head: 3, lowest: 10 });
    chain.mineEmpty(1);
    expect(await look()).toMatchObject({ blocks: [{ number: 11 }], orphaned: [] });
  });

  it('is followed when it stays, and takes nothing back all the same', async () => {
    chain.mineEmpty(10);
    await look();
    const [low] = await chain.blocks([3]);
    if (!low) throw new Error('there is a block 3');
    chain.head = async () => low;
    for (let n = 0; n < 30; n += 1) expect(await look()).toBeNull();
    expect(await look()).toMatchObject({ gap: true, orphaned: [], blocks: [{ number: 3 }] });
    expect(await look()).toBeNull();
  });

  it('that stays is waited for as long as the node does not have its block', async () => {
    chain.mineEmpty(10);
    await look();
    const [low] = await chain.blocks([3]);
    if (!low) throw new Error('there is a block 3');
    chain.head = async () => low;
    const honest = chain.blocks;
    chain.blocks = async (numbers) => numbers.map(() => null);
    for (let n = 0; n < 35; n += 1) expect(await look()).toBeNull();
    chain.blocks = honest;
    expect(await look()).toMatchObject({ gap: true, blocks: [{ number: 3 }] });
  });
});

describe('what is new', () => {
  it('is applied first, and stored then', async () => {
    chain.mineEmpty(1);
    await follow.execute(chain.chainId, async () => void store.calls.push('apply'));
    expect(store.calls).toEqual(['apply', 'store 1 without 0']);
  });

  it('is said to be there, and else that nothing is', async () => {
    chain.mineEmpty(1);
    expect(await follow.execute(chain.chainId, async () => undefined)).toBe(true);
    expect(await follow.execute(chain.chainId, async () => undefined)).toBe(false);
  });

  it('is known by its hash from then on', async () => {
    expect(follow.hashAt(chain.chainId, 1)).toBeNull();
    await followed(1);
    expect(follow.hashAt(chain.chainId, 1)).toBe((await chain.head()).hash);
    expect(follow.hashAt(chain.chainId, 2)).toBeNull();
  });

  it('is not stored when it could not be applied, and comes again', async () => {
    await followed(3);
    store.calls.length = 0;
    chain.mineEmpty(1);
    const failing = follow.execute(chain.chainId, () => Promise.reject(new Error('a bug')));
    await expect(failing).rejects.toThrow('a bug');
    expect([store.calls, follow.tip(chain.chainId)]).toEqual([[], 3]);
    expect(await look()).toMatchObject({ blocks: [{ number: 4 }], orphaned: [] });
  });

  it('comes again when it could not be stored, a reorg included', async () => {
    await followed(3);
    chain.reorg(1);
    store.fails = true;
    await expect(look()).rejects.toThrow('the database is away');
    store.fails = false;
    expect(follow.hashAt(chain.chainId, 3)).not.toBe((await chain.head()).hash);
    expect(await look()).toMatchObject({ blocks: [{ number: 3 }, { number: 4 }], orphaned: [{ number: 3 }] });
  });

  it('is walked fifty blocks at a time', async () => {
    await followed(1);
    chain.mineEmpty(51);
    const numbers = Array.from({ length: 50 }, (_, n) => ({ number: n + 2 }));
    expect(await look()).toMatchObject({ head: 51, blocks: numbers });
    expect(await look()).toMatchObject({ head: 52, blocks: [{ number: 52 }] });
  });

  it('has what lies far below forgotten, at every hundredth block', async () => {
    await followed(99);
    await look();
    store.calls.length = 0;
    for (let n = 0; n < 2; n += 1) {
      chain.mineEmpty(1);
      await look();
    }
    expect(store.calls).toEqual(['store 100 without 0', `forget below ${100 - 2_048}`, 'store 101 without 0']);
  });
});

describe('a fork', () => {
  it('has the hashes of what is gone stored', async () => {
    await followed(10);
    const gone = [9, 10].map((number) => follow.hashAt(chain.chainId, number));
    chain.reorg(2);
    await look();
    expect(store.gone).toEqual(gone);
  });

  it('is walked fifty blocks at a time, too, and has no head above those', async () => {
    await followed(10);
    chain.reorg(2);
    chain.mineEmpty(60);
    expect(await look()).toMatchObject({ head: 58, orphaned: [{ number: 9 }, { number: 10 }] });
    expect(follow.tip(chain.chainId)).toBe(58);
  });

  it('is seen also when its head is lower than ours', async () => {
    await followed(10);
    const other = new ModelChain();
    other.mineEmpty(5);
    other.reorg(2);
    [chain.head, chain.blocks] = [other.head.bind(other), other.blocks.bind(other)];
    expect(await look()).toMatchObject({ head: 6, blocks: [{ number: 4 }, { number: 5 }, { number: 6 }] });
    expect(follow.tip(chain.chainId)).toBe(6);
  });

  it('takes nothing back while the node does not say each of the blocks that may be gone', async () => {
    await followed(10);
    chain.reorg(2);
    const honest = chain.blocks.bind(chain);
    chain.blocks = async (numbers) => (await honest(numbers)).map((block) => (block?.number === 8 ? null : block));
    expect(await look()).toBeNull();
    expect(follow.tip(chain.chainId)).toBe(10);
    chain.blocks = honest;
    expect(await look()).toMatchObject({ orphaned: [{ number: 9 }, { number: 10 }] });
  });

  it('is not a lower head on our own branch', async () => {
    await followed(10);
    const [low] = await chain.blocks([7]);
    const honest = chain.head.bind(chain);
    chain.head = async () => low ?? honest();
    expect(await look()).toBeNull();
    expect(follow.tip(chain.chainId)).toBe(10);
  });
});

/** What one look finds; null when nothing is new. */
async function look(): Promise<ChainUpdate | null> {
  let found: ChainUpdate | null = null;
  await follow.execute(chain.chainId, async (update) => {
    found = update;
  });
  return found;
}

/** Every block from the genesis on. */
async function followed(blocks: number): Promise<void> {
  await look();
  chain.mineEmpty(blocks);
  await look();
}

function warnings(): unknown[] {
  return lines.map(({ msg }) => msg).filter((message) => message !== 'reorg');
}
