import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, RpcUnavailable } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, LeaseManager, NonceLedger, slotKey } from '../../signers/index.js';
import { AttemptRepository, type ConsumedSlot, Doorbell, LaneMemory, LeasedWork } from '../../transactions/index.js';
import { ForeignNonces } from './foreign-nonces.js';

/** Slots to open now, and slots that are known to need nothing. */
interface Judged {
  readonly freed: readonly ConsumedSlot[];
  readonly settled: readonly ConsumedSlot[];
}

/**
 * Opens consumed slots that no tx holds when a reorg may have freed their nonces: else a hole stays that nobody fills. An open
 * one is a fill, sent until the chain says what has the nonce; one that was opened in vain is found mined, or taken, and
 * consumed again. What cannot be decided, or is another node's, is looked at again with every block.
 */
@Injectable()
export class ReopenNonces {
  private readonly pending = new Map<ChainId, readonly ConsumedSlot[]>();

  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly ledger: NonceLedger,
    private readonly taken: ForeignNonces,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
    private readonly log: Log,
  ) {}

  /** @param lowest number of the lowest block that is gone; null when none is that was not told of before */
  async execute(chainId: ChainId, lowest: number | null): Promise<void> {
    const slots = await this.pendingOf(chainId, lowest);
    const { freed, settled } = await this.judge(chainId, slots);
    if (freed.length > 0) await this.leases.takeFree(signersOf(freed));
    const done = new Set([...settled, ...(await this.reopen(chainId, freed))].map(slotKey));
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
   * A fill is opened anyway. What somebody else consumed is free when the chain's nonce is not past it; that it is past must be
   * said twice, like when it was consumed, for the first answer may be from before the reorg.
   */
  private async judge(chainId: ChainId, slots: readonly ConsumedSlot[]): Promise<Judged> {
    const fills = slots.filter(({ foreign }) => !foreign);
    const foreign = slots.filter((slot) => slot.foreign);
    if (foreign.length === 0) return { freed: fills, settled: [] };
    try {
      const chain = this.chains.get(chainId);
      const accounts = foreign.map(({ signer }) => signer.address);
      const counts = await chain.transactionCounts(accounts, 'latest');
      const isFree = ({ nonce }: ConsumedSlot, index: number): boolean => nonce >= (counts[index] ?? nonce + 1n);
      const used = foreign.filter((slot, index) => !isFree(slot, index)).map((slot) => ({ slot, hashes: [] }));
      const taken = await this.taken.execute(chain, used);
      return { freed: [...fills, ...foreign.filter(isFree)], settled: taken.map(({ slot }) => slot) };
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('nonces that a reorg may have freed cannot be asked for', { chainId, error });
      return { freed: fills, settled: [] };
    }
  }

  /** @returns those that need no other look */
  private async reopen(chainId: ChainId, slots: readonly ConsumedSlot[]): Promise<ConsumedSlot[]> {
    const done: ConsumedSlot[] = [];
    await this.work.run(chainId, slots, async (leases, share) => {
      // Read again: whoever had the lease before may have seen to them.
      const consumed = await this.attempts.stillConsumed(share);
      if (consumed.length > 0) await this.open(leases, consumed);
      done.push(...share);
    });
    return done;
  }

  private async open(leases: readonly Lease[], slots: readonly ConsumedSlot[]): Promise<void> {
    await this.unitOfWork.run(leases, 'reopen', async (fence) => {
      await this.ledger.reopen(fence, slots);
      await this.attempts.reopen(fence, slots);
    });
    for (const { signer, nonce, foreign } of slots)
      if (foreign) this.log.error('a reorg freed a nonce of somebody else', { signer: signerKey(signer), nonce });
    const signers = signersOf(slots);
    for (const signer of signers) this.memory.gapOpened(signer);
    this.doorbell.ring(signers);
  }
}
