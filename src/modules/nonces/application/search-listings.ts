import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { type Block, BLOCKS_PER_CALL, type BlockRef, type ChainBlocks, RpcUnavailable } from '../../chain/index.js';
import { slotKey, type SlotRef } from '../../signers/index.js';

/** Blocks of one search that are read in one look; the next look goes on below them. */
const BLOCKS_PER_LOOK = 500;
/** Searches in one look. */
const SEARCHES_PER_LOOK = 4;
/** Blocks to read beyond both ends: heads differ between endpoints. */
const SLACK_BLOCKS = 64;
/** Clocks of nodes and of chains differ. */
const SLACK_MS = 3_600_000;

/** Since when a transaction of ours may be in a block. */
export interface SentSince {
  /** The lowest block whose price one of them has; null where that is not known of each. */
  readonly block: number | null;
  /** Milliseconds since 1970, for where no block is known. */
  readonly time: number;
}

export const NOTHING_SENT: SentSince = { block: null, time: Infinity };

/** A nonce that was used, by nobody knows whom. */
export interface Search {
  readonly slot: SlotRef;
  /** Of our transactions that may have used it. */
  readonly hashes: readonly Hash[];
  readonly since: SentSince;
  /** A final block in whose state the nonce is used. */
  readonly usedAt: BlockRef;
  /** The newest block. */
  readonly head: number;
}

/** The blocks that were read: a chain of parents, without a gap, from the top down. */
interface Walk {
  /** What is searched for. */
  readonly about: string;
  /** The highest one. While it is on the chain, all of them are. */
  readonly top: BlockRef | null;
  /** The highest block to read. */
  readonly next: number;
  /** Its hash, or that of the first block below it that there is; null at the top. */
  readonly parent: Hash | null;
  /** Nothing below can be ours. */
  readonly isDone: boolean;
}

/**
 * Searches blocks for transactions of ours: a node may list one in its block, and know nothing by its hash (docs/public-cases.md). Where its
 * state is pruned, too, nothing else tells that the nonce was used by the payload itself, which would be executed twice with another one. So "no
 * block lists ours" is said only of all blocks since it was signed, each read whole and linked to the next by its hash; until then the nonce is kept.
 */
@Injectable()
export class SearchListings {
  /** By slot, those that were looked for last at the end. In memory: after a restart a search begins again. */
  private readonly walks = new Map<string, Walk>();
  private readonly turns = new Turns<Search>(SEARCHES_PER_LOOK, signerOf);
  private readonly looks: FairAsk<Search, BlockRef | null | undefined>;

  constructor(
    private readonly log: Log,
    clock: Clock,
    { pause }: Pauses,
  ) {
    const batches = (searches: readonly Search[]) => searches.map((search) => [search]);
    const keyOf = (search: Search): string => `${slotKey(search.slot)} ${aboutOf(search)}`;
    this.looks = new FairAsk({ actorOf: signerOf, keyOf, batches }, clock, pause);
  }

  /** @returns the block that lists one of ours, or null when none does, by slot; those without an entry go on in the next look */
  async execute(chain: ChainBlocks, searches: readonly Search[]): Promise<ReadonlyMap<string, BlockRef | null>> {
    const told = await this.looks.execute(await this.inTurn(chain, searches), (some) =>
      Promise.all(some.map((search) => this.look(chain, search))),
    );
    return new Map(
      told.flatMap((one): [string, BlockRef | null][] =>
        one.kind === 'answered' && one.answer !== undefined ? [[slotKey(one.item.slot), one.answer]] : [],
      ),
    );
  }

  forget(slot: string): void {
    this.walks.delete(slot);
  }

  /** Of each signer those first that were not looked for, or not for the longest time. */
  private inTurn(chain: ChainBlocks, searches: readonly Search[]): Promise<Search[]> {
    const last = new Map([...this.walks.keys()].map((slot, index) => [slot, index]));
    const lastLook = ({ slot }: Search): number => last.get(slotKey(slot)) ?? -1;
    const byWait = searches.toSorted((a, b) => lastLook(a) - lastLook(b));
    const signers = [...new Set(searches.map(signerOf))];
    return this.turns.take(chain.chainId, signers, async (some, perSigner) =>
      some.flatMap((signer) => byWait.filter((search) => signerOf(search) === signer).slice(0, perSigner)),
    );
  }

  /** @returns undefined when blocks are left to read */
  private async look(chain: ChainBlocks, search: Search): Promise<BlockRef | null | undefined> {
    const slot = slotKey(search.slot);
    const known = this.walks.get(slot);
    let walk = known?.about === aboutOf(search) ? known : fromTop(search);
    this.walks.delete(slot);
    this.walks.set(slot, walk);
    try {
      for (let read = 0; read < BLOCKS_PER_LOOK && !walk.isDone; read += BLOCKS_PER_CALL) {
        const further = await below(chain, walk, search);
        if ('number' in further) return further;
        const isFurther = further.next < walk.next;
        walk = further;
        if (!isFurther) break;
      }
      if (!walk.isDone || walk.top === null) return undefined;
      const [top] = await chain.blocks([walk.top.number]);
      if (top?.hash === walk.top.hash) return null;
      walk = fromTop(search);
      return undefined;
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      const { signer, nonce } = search.slot;
      this.log.warn('failed to search blocks for a transaction of ours', { signer: signerKey(signer), nonce, error });
      return undefined;
    } finally {
      if (this.walks.has(slot)) this.walks.set(slot, walk);
    }
  }
}

function signerOf({ slot }: Search): string {
  return signerKey(slot.signer);
}

/** With another attempt, or where the nonce is known to be used at another block, a search begins anew. */
function aboutOf({ usedAt, hashes }: Search): string {
  return [usedAt.hash, ...hashes.toSorted()].join(' ');
}

function fromTop(search: Search): Walk {
  const next = Math.min(search.head, search.usedAt.number + SLACK_BLOCKS);
  return { about: aboutOf(search), top: null, next, parent: null, isDone: false };
}

/**
 * Reads on, as far as blocks are there and are read whole. A height may have no block, but then the next lower one is the parent
 * (docs/invariants.md, K4).
 * @returns the block that lists one of ours; or the walk, which begins anew where another branch took the place of what was read
 */
async function below(chain: ChainBlocks, walk: Walk, search: Search): Promise<Walk | BlockRef> {
  const { usedAt, hashes } = search;
  let { top, next, parent } = walk;
  const blocks = await chain.blocks(range(Math.max(0, next - BLOCKS_PER_CALL + 1), next));
  for (const block of blocks.toReversed()) {
    if (block === null) continue;
    const { number, hash } = block;
    if (!isLinked(block, parent, usedAt)) {
      // Below a final block only this endpoint can be wrong, or lack blocks.
      if (number === next || next > usedAt.number) return fromTop(search);
      break;
    }
    if (hashes.some((each) => block.transactionHashes.includes(each))) return { number, hash };
    if (!block.listsAll) break;
    top ??= { number, hash };
    next = number - 1;
    parent = block.parentHash;
    if (isBefore(block, search)) return { ...walk, top, next, parent, isDone: true };
  }
  return { ...walk, top, next, parent };
}

function isLinked({ number, hash }: Block, parent: Hash | null, usedAt: BlockRef): boolean {
  if (number === usedAt.number) return hash === usedAt.hash && (parent === null || parent === hash);
  return parent === null ? number > usedAt.number : parent === hash;
}

/** Whether nothing of ours was out before this block. A price of a block that was not there yet tells nothing. */
function isBefore({ number, timestamp }: Block, { since, usedAt }: Search): boolean {
  if (number === 0) return true;
  if (since.block !== null && since.block <= usedAt.number) return number <= since.block - SLACK_BLOCKS;
  return timestamp !== null && timestamp * 1_000 < since.time - SLACK_MS;
}
