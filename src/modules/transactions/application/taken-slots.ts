import { Injectable } from '@nestjs/common';
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

/** Blocks by which the nonce was used by something that is not ours: of the first look that saw it, and of the last. */
interface Sighting {
  readonly first: Seen;
  readonly last: Seen;
}

type Seen = Pick<BlockHeader, 'number' | 'hash'>;

/**
 * Finds out which slots were filled for good by a transaction that is not ours. It takes two looks: one that sees the nonce
 * passed and no receipt of ours, at every endpoint, and one that sees the same when the block of the first is final. Only then
 * can a payload move to another nonce and never be executed twice (I6, I8).
 */
@Injectable()
export class TakenSlots {
  /** A restart forgets them, and the wait begins anew. */
  private readonly sightings = new Map<string, Sighting>();

  constructor(private readonly finality: FinalityRule) {}

  /** @returns of the slots, those that are taken for good */
  async execute<Doubt extends SlotInDoubt>(chain: ChainConnector, doubts: readonly Doubt[]): Promise<Doubt[]> {
    if (doubts.length === 0) return [];
    const fates = await chain.slotFates(
      doubts.map(({ slot, hashes }) => ({ account: slot.signer.address, nonce: slot.nonce, hashes })),
    );
    // Nonce and receipt of one look may be as of two blocks, so it decides nothing by itself, also when its block is final at once.
    const seenBefore = doubts.filter(({ slot }) => this.sightings.has(slotKey(slot)));
    doubts.forEach(({ slot }, index) => this.see(slot, fates[index]));
    const final = await this.finalSightings(chain, seenBefore);
    const taken = doubts.filter(({ slot }) => final.has(slotKey(slot)));
    for (const { slot } of taken) this.sightings.delete(slotKey(slot));
    return taken;
  }

  /** The first sighting counts: what was passed then is passed still. */
  private see(slot: SlotRef, fate: SlotFate | undefined): void {
    const key = slotKey(slot);
    if (fate?.kind === 'passed')
      this.sightings.set(key, { first: this.sightings.get(key)?.first ?? fate.head, last: fate.head });
    else this.sightings.delete(key);
  }

  private async finalSightings(chain: ChainConnector, doubts: readonly SlotInDoubt[]): Promise<ReadonlySet<string>> {
    const { number: head } = await chain.head();
    const heights = await this.finality.heights(chain, head);
    if (heights === null) return new Set();
    const upTo = heights.byRule;
    this.forgetBelow(chain.chainId, upTo - MEMORY);
    const deep = doubts.flatMap(({ slot }) => {
      const key = slotKey(slot);
      const sighting = this.sightings.get(key);
      return sighting && sighting.first.number <= upTo ? [{ key, sighting }] : [];
    });
    if (deep.length === 0) return new Set();
    const blocks = await chain.blocks(deep.map(({ sighting }) => sighting.first.number));
    const final = new Set<string>();
    for (const [index, { key, sighting }] of deep.entries()) {
      // A block that is gone proves nothing: the reorg may have freed the nonce. What counts from now on is the last look.
      if (blocks[index]?.hash === sighting.first.hash) final.add(key);
      else this.sightings.set(key, { first: sighting.last, last: sighting.last });
    }
    return final;
  }

  private forgetBelow(chainId: ChainId, number: number): void {
    for (const [key, sighting] of this.sightings)
      if (sighting.last.number < number && key.startsWith(`${chainId}:`)) this.sightings.delete(key);
  }
}
