import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import { groupBy } from '../../../kernel/group-by.js';
import { range } from '../../../kernel/range.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { type Block, BLOCKS_PER_CALL, type BlockRef, type ChainBlocks, RpcUnavailable } from '../../chain/index.js';
import { slotKey, type SlotRef } from '../../signers/index.js';

/** Blocks of a chain that are read in one look, for all searches; the next look goes on below them. */
const BLOCKS_PER_LOOK = 500;
const SIGNERS_PER_LOOK = 4;
/** Blocks to read beyond both ends: heads differ between endpoints. */
const SLACK_BLOCKS = 64;
/** Clocks of nodes and of chains differ. */
const SLACK_MS = 3_600_000;
/** A request that is repeated after the database lost its commits is younger than what is out. */
const REPEATED_SLACK_MS = 7 * 24 * 3_600_000;
const NOT_TOLD = 'the endpoint that was asked does not tell it';
const NO_BLOCK = `0x${'0'.repeat(64)}`;

/** Since when a transaction of ours may be in a block. */
export interface SentSince {
  /** The lowest block whose price one of them has, as one endpoint told it; null where that is not known of each. */
  readonly block: number | null;
  /** When the first of their txs was created, in milliseconds since 1970. */
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
  /** The block at which it was last seen to be used: of the first one, state and number are two answers. */
  readonly seenAt: number;
  /** The newest block. */
  readonly head: number;
}

/** All searches of one signer. */
interface Searcher {
  readonly signer: string;
  readonly searches: readonly Search[];
}

/** By slot, the block that lists one of ours, or null when none does. */
type Listings = ReadonlyMap<string, BlockRef | null>;

/** Where a walk stands still. */
interface Stop {
  readonly number: number;
  readonly reason: string;
}

/** The blocks that were read: a chain of parents, without a gap, from the top down. */
interface Walk {
  /** What is searched for, by slot: all searches that were open when it began, and in each look that read on. */
  readonly about: Map<string, string>;
  /** Slots of which nothing below can be. */
  readonly done: Set<string>;
  /** The lowest block to begin at: where the nonces were last seen to be used when it was made. Where they are now moves on with the head. */
  readonly from: number;
  /** The highest one. While it is on the chain, all of them are. */
  top: BlockRef | null;
  /** The highest block to read. */
  next: number;
  /** Its hash, or that of the first block below it that there is; null at the top. */
  parent: Hash | null;
  stop: Stop | null;
}

/**
 * Searches blocks for transactions of ours: a node may list one in its block, and know nothing by its hash (docs/public-cases.md). Where its
 * state is pruned, too, nothing else tells that the nonce was used by the payload itself, which would be executed twice with another one. So "no
 * block lists ours" is said only of all blocks since it was signed, each read whole and linked to the next by its hash; until then the nonce is kept.
 * One walk down the chain is for all searches of a signer that are open when it begins; those that come later have another one. Walks of one signer
 * take turns, so one that stands still holds up no other.
 */
@Injectable()
export class SearchListings {
  /** By signer. In memory: after a restart a search begins again. */
  private readonly walks = new Map<string, Walk[]>();
  private readonly turns = new Turns<Searcher>(SIGNERS_PER_LOOK, ({ signer }) => signer);
  private readonly looks: FairAsk<Searcher, Listings>;

  constructor(
    private readonly log: Log,
    clock: Clock,
    { pause }: Pauses,
  ) {
    const batches = (searchers: readonly Searcher[]) => searchers.map((searcher) => [searcher]);
    const keyOf = ({ searches }: Searcher): string =>
      searches.map((search) => `${slotKey(search.slot)} ${aboutOf(search)}`).join(' ');
    this.looks = new FairAsk({ actorOf: ({ signer }) => signer, keyOf, batches }, clock, pause);
  }

  /** @returns the block that lists one of ours, or null when none does, by slot; those without an entry go on in the next look */
  async execute(chain: ChainBlocks, searches: readonly Search[]): Promise<Listings> {
    const bySigner = groupBy(searches, ({ slot }) => signerKey(slot.signer));
    const now = await this.turns.take(chain.chainId, [...bySigner.keys()], async (signers) =>
      signers.map((signer) => ({ signer, searches: bySigner.get(signer) ?? [] })),
    );
    const budget = { blocks: BLOCKS_PER_LOOK };
    const told = await this.looks.execute(now, (some) =>
      Promise.all(some.map((searcher) => this.look(chain, searcher, budget))),
    );
    return new Map(told.flatMap((one) => (one.kind === 'answered' ? [...one.answer] : [])));
  }

  /** Why the search for this slot stands still; null when it does not. */
  stopOf(slot: SlotRef): string | null {
    const stop = this.walksOf(slot).find(({ about }) => about.has(slotKey(slot)))?.stop ?? null;
    return (
      stop &&
      `blocks are searched for the transaction, and the search stands still at block ${stop.number}: ${stop.reason}`
    );
  }

  forget(slot: SlotRef): void {
    for (const { about } of this.walksOf(slot)) about.delete(slotKey(slot));
    this.keep(signerKey(slot.signer), this.walksOf(slot));
  }

  private walksOf({ signer }: SlotRef): readonly Walk[] {
    return this.walks.get(signerKey(signer)) ?? [];
  }

  /** Without those that nobody asks about any more. */
  private keep(signer: string, walks: readonly Walk[]): void {
    const open = walks.filter(({ about }) => about.size > 0);
    if (open.length > 0) this.walks.set(signer, open);
    else this.walks.delete(signer);
  }

  private async look(
    chain: ChainBlocks,
    { signer, searches }: Searcher,
    budget: { blocks: number },
  ): Promise<Listings> {
    const listed = new Map<string, BlockRef | null>();
    const [read, waiting]: [Walk[], Walk[]] = [[], []];
    const walks = this.begun(signer, searches);
    this.keep(signer, walks);
    for (const walk of walks) {
      const own = searches.filter((search) => isAbout(walk, search));
      const { blocks } = budget;
      if (own.length > 0)
        for (const [slot, block] of await this.readOn(chain, walk, own, budget)) listed.set(slot, block);
      (budget.blocks < blocks ? read : waiting).push(walk);
    }
    // Those that the budget was not enough for come first in the next look.
    this.keep(signer, [...waiting, ...read]);
    return listed;
  }

  /** The walks of a signer. With another attempt, or where the nonce is known to be used at another block, a search begins anew. */
  private begun(signer: string, searches: readonly Search[]): readonly Walk[] {
    const known = this.walks.get(signer) ?? [];
    const fresh = searches.filter((search) => !known.some((walk) => isAbout(walk, search)));
    for (const { slot } of fresh) for (const { about } of known) about.delete(slotKey(slot));
    if (fresh.length === 0) return known;
    const about = new Map(fresh.map((search) => [slotKey(search.slot), aboutOf(search)]));
    const from = Math.max(...fresh.flatMap(({ usedAt, seenAt }) => [usedAt.number, seenAt]));
    return [...known, { about, done: new Set(), from, top: null, next: from, parent: null, stop: null }];
  }

  private async readOn(
    chain: ChainBlocks,
    walk: Walk,
    own: readonly Search[],
    budget: { blocks: number },
  ): Promise<Listings> {
    const before = walk.stop;
    if (walk.top === null) walk.next = topOf(walk, own);
    // What is read now is not searched for others: they have another walk when they are asked about again.
    if (budget.blocks > 0 && leftOf(walk, own).length > 0) keepOnly(walk, own);
    const found = new Map<string, BlockRef>();
    const listed = new Map<string, BlockRef | null>();
    try {
      let next = Infinity;
      while (budget.blocks > 0 && walk.next < next && leftOf(walk, own, found).length > 0) {
        next = walk.next;
        budget.blocks -= BLOCKS_PER_CALL;
        walk.stop = await readBelow(chain, walk, own, found);
      }
      const done = own.map(({ slot }) => slotKey(slot)).filter((slot) => walk.done.has(slot) && !found.has(slot));
      if (done.length > 0 && (await isOnChain(chain, walk, own))) for (const slot of done) listed.set(slot, null);
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      // Whoever goes on makes it worse, for all that ask this chain.
      if (error.isRateLimit) budget.blocks = 0;
      walk.stop = { number: walk.next, reason: error.message };
    }
    if (walk.stop !== null && walk.stop.number !== before?.number)
      this.log.warn('failed to search blocks for a transaction of ours', {
        signer: own[0] && signerKey(own[0].slot.signer),
        nonces: own.map(({ slot }) => slot.nonce),
        block: walk.stop.number,
        error: walk.stop.reason,
      });
    for (const slot of found.keys()) walk.about.delete(slot);
    return new Map([...listed, ...found]);
  }
}

function isAbout({ about }: Walk, search: Search): boolean {
  return about.get(slotKey(search.slot)) === aboutOf(search);
}

function aboutOf({ usedAt, hashes }: Search): string {
  return [usedAt.hash, ...hashes.toSorted()].join(' ');
}

function leftOf(
  { done }: Walk,
  searches: readonly Search[],
  found: ReadonlyMap<string, BlockRef> = new Map(),
): Search[] {
  return searches.filter(({ slot }) => !done.has(slotKey(slot)) && !found.has(slotKey(slot)));
}

/** The head is that of several endpoints, and may be below a block that one of them showed. */
function topOf({ from }: Walk, searches: readonly Search[]): number {
  const head = Math.max(from, ...searches.map((search) => search.head));
  return Math.min(head, from + SLACK_BLOCKS);
}

function keepOnly({ about }: Walk, searches: readonly Search[]): void {
  const kept = new Set(searches.map(({ slot }) => slotKey(slot)));
  for (const slot of about.keys()) if (!kept.has(slot)) about.delete(slot);
}

/** Another branch took the place of what was read. Others of the walk have another one when they are asked about again: its top may be too low for them. */
function beginAnew(walk: Walk, searches: readonly Search[]): void {
  keepOnly(walk, searches);
  walk.done.clear();
  Object.assign(walk, { top: null, next: topOf(walk, searches), parent: null });
}

/** A block that is not told proves nothing: it is asked for again. */
async function isOnChain(chain: ChainBlocks, walk: Walk, searches: readonly Search[]): Promise<boolean> {
  if (walk.top === null) return false;
  const { number, hash } = walk.top;
  const [top] = await chain.blocks([number]);
  if (top?.hash === hash) return true;
  if (top) beginAnew(walk, searches);
  walk.stop = { number, reason: top ? 'it is of another branch' : NOT_TOLD };
  return false;
}

/**
 * Reads on, as far as blocks are there and are read whole. A height may have no block, but then the next lower one is the parent
 * (docs/invariants.md, K4). The walk begins anew where another branch took the place of what was read, but not below a final block: all below are
 * linked to it, so an endpoint that has others lacks these.
 * @param own the searches of this look
 * @param found gets the blocks that list one of ours, by slot
 * @returns where it stands still; null when it read on
 */
async function readBelow(
  chain: ChainBlocks,
  walk: Walk,
  own: readonly Search[],
  found: Map<string, BlockRef>,
): Promise<Stop | null> {
  const searches = leftOf(walk, own, found);
  const slotOf = new Map(searches.flatMap(({ slot, hashes }) => hashes.map((hash) => [hash, slotKey(slot)])));
  const used = Math.max(...searches.map(({ usedAt }) => usedAt.number));
  // The first block is asked for alone: some nodes have none, or tell it in another form.
  const blocks = await chain.blocks(
    range(Math.max(Math.min(1, walk.next), walk.next - BLOCKS_PER_CALL + 1), walk.next),
  );
  const first = walk.next;
  for (const block of blocks.toReversed()) {
    if (block === null) continue;
    const { number, hash } = block;
    // The endpoint that was asked is not that far.
    if (walk.parent === null && number < walk.from) break;
    const isLinked = walk.parent === null || walk.parent === hash;
    const isPast = isLinked && searches.some(({ usedAt }) => isNotOn(usedAt, block, walk.next));
    if (isPast || (!isLinked && walk.next > used)) {
      beginAnew(walk, own);
      return { number, reason: 'it is of another branch' };
    }
    if (!isLinked) return { number, reason: 'it is not the parent of the block above' };
    for (const listed of block.transactionHashes) {
      const slot = slotOf.get(listed);
      if (slot !== undefined) found.set(slot, { number, hash });
    }
    if (!block.listsAll) return { number, reason: 'it does not list all of its transactions' };
    walk.top ??= { number, hash };
    walk.next = number - 1;
    walk.parent = block.parentHash;
    for (const search of searches) if (isBefore(block, search)) walk.done.add(slotKey(search.slot));
  }
  if (walk.next === first) return { number: first, reason: NOT_TOLD };
  return null;
}

/** Whether the branch of a block, which is the first one from `next` down, does not have that other block. */
function isNotOn(other: BlockRef, { number, hash }: BlockRef, next: number): boolean {
  return number === other.number ? hash !== other.hash : number < other.number && next >= other.number;
}

/** Whether nothing of ours was out before this block. A price of a block that was not there yet tells nothing. */
function isBefore({ number, timestamp, parentHash }: Block, { since, usedAt }: Search): boolean {
  if (number === 0 || parentHash === NO_BLOCK) return true;
  const isOlder = (slackMs: number) => timestamp !== null && timestamp * 1_000 < since.time - slackMs;
  if (since.block === null || since.block > usedAt.number) return isOlder(REPEATED_SLACK_MS);
  // One endpoint told the block of the price.
  return number <= since.block - SLACK_BLOCKS && (timestamp === null || isOlder(SLACK_MS));
}
