import {
  agreedHashes,
  type BlockRef,
  type ChainConnector,
  Chains,
  FinalityRule,
  type NonceUse,
  type NonceUser,
} from '../../chain/index.js';
import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { slotKey, type SlotRef } from '../../signers/index.js';
import { SearchListings, type SentSince } from './search-listings.js';

/** A slot whose nonce a node reports as used, although no receipt of our attempts was found. */
export interface SlotInDoubt {
  readonly slot: SlotRef;
  /** Hashes of all attempts of the slot. */
  readonly hashes: readonly Hash[];
  readonly since: SentSince;
}

/** A slot whose nonce a transaction that the database does not know used for good. */
export type ForeignUse<Doubt extends SlotInDoubt> = Doubt & {
  /** Null when the chain does not report it. */
  readonly usedBy: NonceUser | null;
};

/** Blocks to remember a sighting that was not confirmed. */
const SIGHTING_MEMORY_BLOCKS = 1_000;
/** Blocks to remember a sighting of our own transaction: after them its receipt was found, or no node has it. */
const OURS_MEMORY_BLOCKS = 100_000;

/** Observations that a foreign transaction used a nonce: the block of the first one, and of the last one. */
interface Sighting {
  readonly slot: SlotRef;
  readonly first: BlockRef;
  readonly last: BlockRef;
  /** The foreign transaction, if one of the observations found it. */
  readonly user: NonceUser | null;
  /** Monotonic milliseconds of the first observation. */
  readonly since: number;
  /** The look after the last observation did not show the same: it takes two more. What was found out until then is kept. */
  readonly isInterrupted: boolean;
}

/**
 * Finds out which nonces a foreign transaction used for good. It takes two observations. In the first, every endpoint reports the nonce as
 * used and has no receipt of ours. The second reports the same when the block of the first one is final. Where no endpoint names the
 * foreign transaction, the observations are also `staleReceiptTimeout` apart, because blocks come faster than some nodes index them, and no
 * block may list an attempt of ours ({@link SearchListings}). Without this proof a payload that moves to another nonce could be executed twice (docs/invariants.md, I6 and I8).
 */
@Injectable()
export class ForeignNonces {
  /** In memory: after a restart the wait begins again. */
  private readonly sightings = new Map<string, Sighting>();
  /**
   * The block of our own mined attempt, by slot. While that block is canonical, no other observation counts, even when the node that
   * reported it has pruned its state.
   */
  private readonly ours = new Map<string, BlockRef>();

  constructor(
    private readonly chains: Chains,
    private readonly finality: FinalityRule,
    private readonly config: ConfirmationsConfig,
    private readonly listings: SearchListings,
    private readonly clock: Clock,
  ) {}

  /** @returns the slots whose nonce a foreign transaction used for good */
  async usedForGood<Doubt extends SlotInDoubt>(
    chainId: ChainId,
    doubts: readonly Doubt[],
  ): Promise<ForeignUse<Doubt>[]> {
    if (doubts.length === 0) return [];
    const chain = this.chains.get(chainId);
    const uses = await chain.nonceUses(
      doubts.map(({ slot, hashes }) => ({ account: slot.signer.address, nonce: slot.nonce, hashes })),
    );
    // An observation reads nonce and receipt at two moments, maybe at two blocks, so one alone decides nothing, even if its block is final.
    const observedBefore = doubts.filter(({ slot }) => this.isObserved(slot));
    doubts.forEach(({ slot }, index) => this.observe(slot, uses[index]));
    const final = await this.finalSightings(
      chain,
      observedBefore.filter(({ slot }) => this.isObserved(slot)),
    );
    const foreign = doubts.flatMap((doubt) => {
      const sighting = final.get(slotKey(doubt.slot));
      return sighting ? [{ ...doubt, usedBy: sighting.user }] : [];
    });
    for (const { slot } of foreign) this.forget(slot);
    return foreign;
  }

  /** Why it is not found out whether blocks list an attempt of the slot; null when nothing is wrong. */
  searchStop(slot: SlotRef): string | null {
    return this.listings.stopOf(slot);
  }

  /** The block that has an attempt of the slot, although no receipt was found; null when none is known. */
  ownBlock(slot: SlotRef): BlockRef | null {
    return this.ours.get(slotKey(slot)) ?? null;
  }

  /** Keeps the block of the first sighting: a nonce that was used at that block is still used now. */
  private observe(slot: SlotRef, use: NonceUse | undefined): void {
    const key = slotKey(slot);
    if (use?.kind === 'ours') this.ours.set(key, use.block);
    const known = this.sightings.get(key);
    if (use?.kind !== 'passed') {
      // One answer that is missing takes nothing back: the block of the first observation tells whether a reorg did.
      if (known && (use === undefined || (use.kind === 'open' && !use.isFree)))
        this.sightings.set(key, { ...known, isInterrupted: true });
      else this.forget(slot);
      return;
    }
    const last = use.user?.block ?? use.head;
    const user = use.user ?? known?.user ?? null;
    // When the foreign transaction is named now, or differs from the one before, its own block has to become final.
    const first = known && known.user?.txHash === user?.txHash ? known.first : last;
    const since = known?.since ?? this.clock.monotonicMs();
    this.sightings.set(key, { slot, first, last, user, since, isInterrupted: false });
  }

  private async finalSightings(
    chain: ChainConnector,
    doubts: readonly SlotInDoubt[],
  ): Promise<ReadonlyMap<string, Sighting>> {
    const head = await this.finality.agreedHead(chain, (await chain.head()).number);
    const heights = head && (await this.finality.heights(chain, head.number));
    if (head === null || heights === null) return new Map();
    const upTo = heights.byRule;
    this.forgetBelow(chain.chainId, upTo);
    const deep = doubts.flatMap((doubt) => {
      const key = slotKey(doubt.slot);
      const sighting = this.sightings.get(key);
      return sighting && sighting.first.number <= upTo && this.isSure(sighting) ? [{ key, sighting, ...doubt }] : [];
    });
    if (deep.length === 0) return new Map();
    const asked = deep.flatMap(({ key, sighting }) => [sighting.first, ...this.oursOf(key)]);
    const canonical = await agreedHashes(
      chain,
      asked.map(({ number }) => number),
    );
    const final = new Map<string, Sighting>();
    for (const { key, sighting } of deep) {
      // Our block is orphaned only when another block is at its height.
      if (this.oursOf(key).some(({ number, hash }) => (canonical.get(number)?.value ?? hash) === hash)) continue;
      this.ours.delete(key);
      const agreed = canonical.get(sighting.first.number)?.value;
      if (agreed === sighting.first.hash) final.set(key, sighting);
      // An orphaned block proves nothing: the reorg may have freed the nonce. Start again from the last observation.
      else if (agreed !== undefined) this.sightings.set(key, { ...sighting, first: sighting.last, user: null });
    }
    const unnamed = deep.filter(({ key, hashes }) => final.get(key)?.user === null && hashes.length > 0);
    const listed = await this.listings.execute(
      chain,
      unnamed.map(({ sighting, ...doubt }) => ({
        ...doubt,
        usedAt: sighting.first,
        seenAt: sighting.last.number,
        head: head.number,
      })),
    );
    for (const { key } of unnamed) {
      const block = listed.get(key);
      if (block !== null) final.delete(key);
      if (block) this.ours.set(key, block);
    }
    return final;
  }

  private isObserved(slot: SlotRef): boolean {
    return this.sightings.get(slotKey(slot))?.isInterrupted === false;
  }

  private forget(slot: SlotRef): void {
    this.sightings.delete(slotKey(slot));
    this.listings.forget(slot);
  }

  private oursOf(key: string): BlockRef[] {
    const block = this.ours.get(key);
    return block ? [block] : [];
  }

  private isSure({ user, since }: Sighting): boolean {
    return user !== null || this.clock.monotonicMs() - since >= this.config.staleReceiptTimeout;
  }

  private forgetBelow(chainId: ChainId, number: number): void {
    const isOfChain = (key: string): boolean => key.startsWith(`${chainId}:`);
    for (const [key, { slot, last }] of this.sightings)
      if (last.number < number - SIGHTING_MEMORY_BLOCKS && isOfChain(key)) this.forget(slot);
    for (const [key, block] of this.ours)
      if (block.number < number - OURS_MEMORY_BLOCKS && isOfChain(key)) this.ours.delete(key);
  }
}
