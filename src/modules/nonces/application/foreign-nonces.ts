import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type BlockRef, type ChainConnector, FinalityRule, type NonceUse } from '../../chain/index.js';
import { slotKey, type SlotRef } from '../../signers/index.js';

/** A slot whose nonce a node calls used, although nothing of ours was seen mined with it. */
export interface SlotInDoubt {
  readonly slot: SlotRef;
  /** Of every attempt. */
  readonly hashes: readonly Hash[];
}

/** Blocks after which a sighting that came to nothing is forgotten. */
const MEMORY = 1_000;
/** Blocks after which it is forgotten that one of ours was in them: by then its receipt was found, or nobody has it. */
const MEMORY_OF_OURS = 100_000;

/** Blocks by which the nonce was used by something that is not ours: of the first look that saw it, and of the last. */
interface Sighting {
  readonly first: BlockRef;
  readonly last: BlockRef;
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
export class ForeignNonces {
  /** A restart forgets them, and the wait begins anew. */
  private readonly sightings = new Map<string, Sighting>();
  /** Blocks that have one of ours, by slot: as long as they are canonical nothing else counts, also when the state that told is gone. */
  private readonly ours = new Map<string, BlockRef>();

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
    const fates = await chain.nonceUses(
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
  private see(slot: SlotRef, fate: NonceUse | undefined): void {
    const key = slotKey(slot);
    if (fate?.kind === 'ours') this.ours.set(key, fate.block);
    if (fate?.kind !== 'passed') {
      this.sightings.delete(key);
      return;
    }
    const known = this.sightings.get(key);
    const last = fate.user?.block ?? fate.head;
    const user = fate.user?.txHash ?? known?.user ?? null;
    // Named now, or another than before: it is the block of that one that has to be final.
    const first = known?.user === user ? known.first : last;
    this.sightings.set(key, { first, last, user, since: known?.since ?? this.clock.monotonicMs() });
  }

  private async finalSightings(
    chain: ChainConnector,
    doubts: readonly SlotInDoubt[],
  ): Promise<ReadonlyMap<string, Sighting>> {
    const head = await this.finality.agreedHead(chain, (await chain.head()).number);
    const heights = head && (await this.finality.heights(chain, head.number));
    if (heights === null) return new Map();
    const upTo = heights.byRule;
    this.forgetBelow(chain.chainId, upTo);
    const deep = doubts.flatMap(({ slot }) => {
      const key = slotKey(slot);
      const sighting = this.sightings.get(key);
      return sighting && sighting.first.number <= upTo && this.isSure(sighting) ? [{ key, sighting }] : [];
    });
    if (deep.length === 0) return new Map();
    const there = await hashesOf(
      chain,
      deep.flatMap(({ key, sighting }) => [sighting.first, ...this.oursOf(key)]),
    );
    const final = new Map<string, Sighting>();
    for (const { key, sighting } of deep) {
      // Only another block in its place says that it is gone.
      if (this.oursOf(key).some(({ number, hash }) => (there.get(number) ?? hash) === hash)) continue;
      this.ours.delete(key);
      // A block that is gone proves nothing: the reorg may have freed the nonce. What counts from now on is the last look.
      if (there.get(sighting.first.number) === sighting.first.hash) final.set(key, sighting);
      else this.sightings.set(key, { ...sighting, first: sighting.last, user: null });
    }
    return final;
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
    for (const [key, { last }] of this.sightings)
      if (last.number < number - MEMORY && isOfChain(key)) this.sightings.delete(key);
    for (const [key, block] of this.ours)
      if (block.number < number - MEMORY_OF_OURS && isOfChain(key)) this.ours.delete(key);
  }
}

/** By height, as far as the endpoints agree. */
async function hashesOf(
  chain: ChainConnector,
  asked: readonly BlockRef[],
): Promise<ReadonlyMap<number, Hash | undefined>> {
  const numbers = [...new Set(asked.map(({ number }) => number))];
  const hashes = await chain.agreedBlocks(numbers);
  return new Map(numbers.map((number, i) => [number, hashes[i]?.value]));
}
