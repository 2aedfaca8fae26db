import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockHeader, ChainConnector, SlotFate } from '../../chain/index.js';
import type { SlotRef } from '../../signers/index.js';
import { FinalityRule } from './finality-rule.js';
import { slotKey } from './slot-key.js';

/** A slot whose nonce a node calls used, although nothing of ours was seen mined with it. */
export interface SlotInDoubt {
  readonly slot: SlotRef;
  /** Of every attempt. */
  readonly hashes: readonly Hash[];
}

/** Blocks after which a sighting that came to nothing is forgotten. */
const MEMORY = 1_000;

type Seen = Pick<BlockHeader, 'number' | 'hash'>;

/** Blocks by which the nonce was used by something that is not ours: of the first look that saw it, and of the last. */
interface Sighting {
  readonly first: Seen;
  readonly last: Seen;
  /** The transaction that used it, if the last look found it. */
  readonly user: Hash | null;
  /** Monotonic milliseconds of the first look. */
  readonly since: number;
}

/**
 * Finds out which slots were filled for good by a transaction that is not ours. It takes two looks: one that sees the nonce
 * passed and no receipt of ours, at every endpoint, and one that sees the same when the block of the first is final. Where the
 * chain cannot name the transaction that used the nonce, the looks are as far apart as a receipt may be stale, too: blocks come
 * faster than some nodes index them. Only then can a payload move to another nonce and never be executed twice (I6, I8).
 */
@Injectable()
export class TakenSlots {
  /** A restart forgets them, and the wait begins anew. */
  private readonly sightings = new Map<string, Sighting>();

  constructor(
    private readonly finality: FinalityRule,
    private readonly config: ConfirmationsConfig,
    private readonly clock: Clock,
  ) {}

  /** @returns of the slots, those that are taken for good, and by what if the chain could name it */
  async execute<Doubt extends SlotInDoubt>(
    chain: ChainConnector,
    doubts: readonly Doubt[],
  ): Promise<(Doubt & { readonly usedBy: Hash | null })[]> {
    if (doubts.length === 0) return [];
    const fates = await chain.slotFates(
      doubts.map(({ slot, hashes }) => ({ account: slot.signer.address, nonce: slot.nonce, hashes })),
    );
    // Nonce and receipt of one look may be as of two blocks, so it decides nothing by itself, also when its block is final at once.
    const seenBefore = doubts.filter(({ slot }) => this.sightings.has(slotKey(slot)));
    doubts.forEach(({ slot }, index) => this.see(slot, fates[index]));
    const final = await this.finalSightings(chain, seenBefore);
    const taken = doubts.flatMap((doubt) => {
      const sighting = final.get(slotKey(doubt.slot));
      return sighting ? [{ ...doubt, usedBy: sighting.user }] : [];
    });
    for (const { slot } of taken) this.sightings.delete(slotKey(slot));
    return taken;
  }

  /** The first sighting counts: what was passed then is passed still. */
  private see(slot: SlotRef, fate: SlotFate | undefined): void {
    const key = slotKey(slot);
    if (fate?.kind !== 'passed') {
      this.sightings.delete(key);
      return;
    }
    const last = fate.user?.block ?? fate.head;
    const { first, since } = this.sightings.get(key) ?? { first: last, since: this.clock.monotonicMs() };
    this.sightings.set(key, { first, last, since, user: fate.user?.txHash ?? null });
  }

  private async finalSightings(
    chain: ChainConnector,
    doubts: readonly SlotInDoubt[],
  ): Promise<ReadonlyMap<string, Sighting>> {
    const { number: head } = await chain.head();
    const heights = await this.finality.heights(chain, head);
    if (heights === null) return new Map();
    const upTo = heights.byRule;
    this.forgetBelow(chain.chainId, upTo - MEMORY);
    const deep = doubts.flatMap(({ slot }) => {
      const key = slotKey(slot);
      const sighting = this.sightings.get(key);
      return sighting && sighting.first.number <= upTo && this.isSure(sighting) ? [{ key, sighting }] : [];
    });
    if (deep.length === 0) return new Map();
    const blocks = await chain.blocks(deep.map(({ sighting }) => sighting.first.number));
    const final = new Map<string, Sighting>();
    for (const [index, { key, sighting }] of deep.entries()) {
      // A block that is gone proves nothing: the reorg may have freed the nonce. What counts from now on is the last look.
      if (blocks[index]?.hash === sighting.first.hash) final.set(key, sighting);
      else this.sightings.set(key, { ...sighting, first: sighting.last });
    }
    return final;
  }

  private isSure({ user, since }: Sighting): boolean {
    return user !== null || this.clock.monotonicMs() - since >= this.config.staleReceiptTimeout;
  }

  private forgetBelow(chainId: ChainId, number: number): void {
    for (const [key, sighting] of this.sightings)
      if (sighting.last.number < number && key.startsWith(`${chainId}:`)) this.sightings.delete(key);
  }
}
