import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, RpcUnavailable } from '../../chain/index.js';
import { type Lease, LeaseManager, slotKey } from '../../signers/index.js';
import { AttemptRepository, type ConsumedSlot, LeasedWork } from '../../ledger/index.js';
import { CompareBooks } from '../../lost-commits/index.js';
import { FillNonceGaps } from './fill-nonce-gaps.js';
import { ForeignNonces } from './foreign-nonces.js';
import { NOTHING_SENT } from './search-listings.js';

/** Foreign nonces after a reorg. A slot that is in neither list is not decided yet. */
interface FreedNonces {
  readonly freed: readonly ConsumedSlot[];
  /** A foreign transaction used them for good. */
  readonly used: readonly ConsumedSlot[];
}

/**
 * Fills foreign nonces that a reorg freed; no other code fills such a gap. When a foreign transaction uses the nonce again, the fill is
 * DROPPED later. A nonce that cannot be decided, or whose signer belongs to another node, is checked again with every block.
 */
@Injectable()
export class ReopenNonces {
  private readonly pending = new Map<ChainId, readonly ConsumedSlot[]>();

  constructor(
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly attempts: AttemptRepository,
    private readonly chains: Chains,
    private readonly foreign: ForeignNonces,
    private readonly fillGaps: FillNonceGaps,
    private readonly books: CompareBooks,
    private readonly log: Log,
  ) {}

  /** @param lowest number of the lowest orphaned block; null when no block was orphaned since the last call */
  async execute(chainId: ChainId, lowest: number | null): Promise<void> {
    const slots = await this.pendingOf(chainId, lowest);
    const { freed, used } = await this.find(chainId, slots);
    if (freed.length > 0) await this.leases.takeFree(signersOf(freed));
    const done = new Set([...used, ...(await this.reopen(chainId, freed))].map(slotKey));
    this.pending.set(
      chainId,
      slots.filter((slot) => !done.has(slotKey(slot))),
    );
  }

  isWaiting(chainId: ChainId): boolean {
    return (this.pending.get(chainId)?.length ?? 0) > 0;
  }

  private async pendingOf(chainId: ChainId, lowest: number | null): Promise<ConsumedSlot[]> {
    const known = await this.attempts.stillConsumed(this.pending.get(chainId) ?? []);
    const found = lowest === null ? [] : await this.attempts.consumedWithoutTx(chainId, lowest);
    return [...new Map([...known, ...found].map((slot) => [slotKey(slot), slot])).values()];
  }

  /**
   * Finds out which foreign nonces a reorg freed. A nonce is free when the chain's next nonce is not above it. That it is still used needs
   * two observations, as when the slot was consumed: the first answer may be from before the reorg.
   */
  private async find(chainId: ChainId, slots: readonly ConsumedSlot[]): Promise<FreedNonces> {
    if (slots.length === 0) return { freed: [], used: [] };
    try {
      const accounts = slots.map(({ signer }) => signer.address);
      const counts = await this.chains.get(chainId).transactionCounts(accounts, 'latest');
      const isFree = ({ nonce }: ConsumedSlot, index: number): boolean => nonce >= (counts[index] ?? nonce + 1n);
      const inDoubt = slots
        .filter((slot, index) => !isFree(slot, index))
        .map((slot) => ({ slot, hashes: [], since: NOTHING_SENT }));
      const used = await this.foreign.usedForGood(chainId, inDoubt);
      const isSame = await this.books.onSameChain(chainId, signersOf(slots));
      const freed = slots.filter((slot, index) => isSame(slot.signer) === true && isFree(slot, index));
      return { freed, used: used.map(({ slot }) => slot) };
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('failed to check foreign nonces after a reorg', { chainId, error });
      return { freed: [], used: [] };
    }
  }

  /** @returns the slots that need no further check */
  private async reopen(chainId: ChainId, slots: readonly ConsumedSlot[]): Promise<ConsumedSlot[]> {
    const done: ConsumedSlot[] = [];
    await this.work.run(chainId, slots, async (leases, share) => {
      // Read again: the previous owner of the lease may have reopened them.
      const consumed = await this.attempts.stillConsumed(share);
      if (consumed.length > 0) await this.open(chainId, leases, consumed);
      done.push(...share);
    });
    return done;
  }

  private async open(chainId: ChainId, leases: readonly Lease[], slots: readonly ConsumedSlot[]): Promise<void> {
    for (const { signer, nonce } of slots)
      this.log.error('reorg freed a foreign nonce', { signer: signerKey(signer), nonce });
    await this.fillGaps.fill(chainId, leases, slots);
  }
}
