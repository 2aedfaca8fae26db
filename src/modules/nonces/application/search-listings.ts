import type { Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import { BLOCKS_PER_CALL, type BlockRef, type ChainBlocks } from '../../chain/index.js';

/** Blocks of one search that are read in one look; the next look goes on below them. */
const BLOCKS_PER_LOOK = 500;
/** Searches in one look. */
const SEARCHES_PER_LOOK = 4;
/** Blocks to search when it is not known since when a transaction may be out. */
const BLOCKS_WITHOUT_START = 5_000;
/** Read below the first block, as far as they are there: heads differ between endpoints, and a reorg may have made the chain shorter. */
const SLACK_BLOCKS = 64;

/** A nonce that was used, by nobody knows whom. */
export interface Search {
  readonly key: string;
  /** Of our transactions that may have used it. */
  readonly hashes: readonly Hash[];
  /** A final block in whose state the nonce is used. */
  readonly usedAt: BlockRef;
  /** The block whose price the first of them has; null when it is not known. */
  readonly sentAt: number | null;
}

interface Progress {
  /** {@link Search.usedAt} when the search began. */
  readonly from: Hash;
  /** The highest block that was not read. */
  readonly next: number;
  /** The parent of the lowest block that was read, or the first block to read. */
  readonly parent: Hash;
}

/**
 * Searches blocks for transactions of ours: a node may list one in its block, and know nothing by its hash (docs/public-cases.md). Where its
 * state is pruned, too, nothing else tells that the nonce was used by the payload itself, which would be executed twice with another one.
 */
export class SearchListings {
  /** The searches that are not done, those that waited longest first. */
  private readonly open = new Map<string, Progress>();

  /** @returns the block that lists one of ours, or null when none does, of each search that is done; the others go on in the next look */
  async execute(chain: ChainBlocks, searches: readonly Search[]): Promise<ReadonlyMap<string, BlockRef | null>> {
    const waited = [...this.open.keys()];
    const byWait = searches.toSorted((a, b) => waited.indexOf(a.key) - waited.indexOf(b.key));
    const done = new Map<string, BlockRef | null>();
    for (const search of byWait.slice(0, SEARCHES_PER_LOOK)) {
      const found = await this.search(chain, search);
      if (found !== undefined) done.set(search.key, found);
    }
    return done;
  }

  forget(key: string): void {
    this.open.delete(key);
  }

  /** @returns undefined when blocks are left to read */
  private async search(chain: ChainBlocks, search: Search): Promise<BlockRef | null | undefined> {
    const { key, usedAt, sentAt } = search;
    const isKnown = sentAt !== null && sentAt <= usedAt.number;
    const first = Math.max(0, isKnown ? sentAt : usedAt.number - BLOCKS_WITHOUT_START);
    const known = this.open.get(key);
    const begun = known?.from === usedAt.hash ? known : { from: usedAt.hash, next: usedAt.number, parent: usedAt.hash };
    const end = Math.max(0, first - SLACK_BLOCKS, begun.next - BLOCKS_PER_LOOK + 1);
    let walk: Progress = begun;
    this.open.delete(key);
    while (walk.next >= end) {
      const read = await below(chain, walk, Math.max(end, walk.next - BLOCKS_PER_CALL + 1), search.hashes);
      if ('number' in read) return read;
      if (read.next === walk.next) break;
      walk = read;
    }
    if (walk.next < first) return null;
    this.open.set(key, walk);
    return undefined;
  }
}

/** Stops above blocks that are missing: a height may have no block, but then the next lower one is the parent (docs/invariants.md, K4). */
async function below(
  chain: ChainBlocks,
  walk: Progress,
  to: number,
  hashes: readonly Hash[],
): Promise<Progress | BlockRef> {
  let { next, parent } = walk;
  for (const block of (await chain.blocks(range(to, walk.next))).toReversed()) {
    if (block === null) continue;
    const isOverGap = block.number < next;
    if (isOverGap && block.hash !== parent) break;
    if (hashes.some((hash) => block.transactionHashes.includes(hash)))
      return { number: block.number, hash: block.hash };
    next = block.number - 1;
    parent = block.parentHash;
  }
  return { ...walk, next, parent };
}
