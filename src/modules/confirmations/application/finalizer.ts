import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { type ChainId, distinctSigners, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import {
  Chains,
  type FinalHeights,
  FinalityRule,
  HeadTracker,
  type Receipt,
  VerifiedReceipts,
} from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { MinedTxs } from '../../ledger/index.js';
import { minedVerdict } from '../domain/mined-verdict.js';
import { type Settlement, SettleTxs } from './settle-txs.js';

const MAX_TXS_AT_ONCE = 1_000;

/**
 * Makes MINED txs final when their block is deep enough and, by its hash, still canonical; for success and revert alike
 * (docs/invariants.md, I9). A tx whose block was orphaned goes back to the mempool.
 */
@Injectable()
export class Finalizer {
  /** How many of the oldest txs could not be decided last time: the next run begins after them, so that they do not block the others. */
  private readonly undecided = new Map<ChainId, number>();

  constructor(
    private readonly leases: LeaseManager,
    private readonly mined: MinedTxs,
    private readonly chains: Chains,
    private readonly tracker: HeadTracker,
    private readonly finality: FinalityRule,
    private readonly verified: VerifiedReceipts,
    private readonly settle: SettleTxs,
    private readonly log: Log,
  ) {}

  /**
   * @param head number of the newest followed block
   * @returns the signers of txs that were deep enough
   */
  async finalize(chainId: ChainId, head: number): Promise<SignerId[]> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return [];
    const upTo = await this.provenHeights(chainId, signers, head);
    if (upTo === null) return [];
    const settled: SignerId[] = [];
    let decided: number;
    do {
      const skip = this.undecided.get(chainId) ?? 0;
      const deep = await this.mined.minedUpTo(chainId, signers, upTo, { skip, limit: MAX_TXS_AT_ONCE });
      const receipts = deep.flatMap((tx) => tx.progress.receipt ?? []);
      decided = await this.settle.execute(chainId, deep, await this.evidence(chainId, receipts, head));
      settled.push(...distinctSigners(signersOf(deep)));
      this.undecided.set(chainId, deep.length < MAX_TXS_AT_ONCE ? 0 : skip + deep.length - decided);
      // Stop when some could not be decided: the next block continues.
    } while (decided === MAX_TXS_AT_ONCE);
    return settled;
  }

  /** Sends txs that were mined in orphaned blocks back to the mempool. */
  async undo(chainId: ChainId, orphaned: readonly Hash[]): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0 || orphaned.length === 0) return;
    const orphanedHashes = new Set(orphaned);
    await this.settle.execute(chainId, await this.mined.minedIn(chainId, signers, orphaned), {
      head: null,
      fresh: new Map(),
      verdictOf: ({ blockHash }) => (orphanedHashes.has(blockHash) ? 'gone' : 'open'),
    });
  }

  /**
   * The heights up to which txs are final. The endpoints must agree on a followed block. Blocks are linked by hash, so the endpoints then agree
   * on all blocks below it. An endpoint on another branch, or with a false head, makes no tx final. Costs a call only when a tx is deep enough.
   *
   * @returns null when no tx can become final now
   */
  protected async provenHeights(
    chainId: ChainId,
    signers: readonly SignerId[],
    head: number,
  ): Promise<FinalHeights | null> {
    const heights = await this.heights(chainId, head);
    if (heights === null) return null;
    const [first] = await this.mined.minedUpTo(chainId, signers, heights, { skip: 0, limit: 1 });
    if (!first) return null;
    const agreed = await this.finality.agreedHead(this.chains.get(chainId), head);
    const isOurs = agreed !== null && agreed.hash === this.tracker.hashAt(chainId, agreed.number);
    if (!isOurs) {
      this.log.warn('finality delayed: no quorum for the head, or observed only once', { chainId, head });
      return null;
    }
    return agreed.number === head ? heights : this.heights(chainId, agreed.number);
  }

  /** Asks the node for final heights only when a tx waits for them. */
  protected async heights(chainId: ChainId, head: number): Promise<FinalHeights | null> {
    if (this.finality.asksTheChain(chainId) && !(await this.mined.anyMined(chainId))) return null;
    return this.finality.heights(this.chains.get(chainId), head);
  }

  /** The evidence for verdicts on receipts: the canonical blocks at their heights, and the same receipts, verified now. */
  private async evidence(chainId: ChainId, receipts: readonly Receipt[], head: number): Promise<Settlement> {
    const canonical = await this.canonicalHashes(chainId, receipts);
    const { found, gone } = await this.verified.verify(this.chains.get(chainId), receipts);
    const hash = this.tracker.hashAt(chainId, head);
    return {
      head: hash && { number: head, hash },
      fresh: found,
      verdictOf: (receipt) =>
        minedVerdict(receipt, {
          canonical: canonical.get(receipt.blockNumber),
          fresh: found.get(receipt.txHash),
          denied: gone.has(receipt.txHash),
        }),
    };
  }

  /** By height, as far as they are known: from the followed blocks, and from the chain for blocks below them. */
  private async canonicalHashes(chainId: ChainId, receipts: readonly Receipt[]): Promise<ReadonlyMap<number, Hash>> {
    const numbers = [...new Set(receipts.map(({ blockNumber }) => blockNumber))];
    const known = new Map(
      numbers.flatMap((number): [number, Hash][] => {
        const hash = this.tracker.hashAt(chainId, number);
        return hash === null ? [] : [[number, hash]];
      }),
    );
    const missing = numbers.filter((number) => !known.has(number));
    const blocks = missing.length === 0 ? [] : await this.chains.get(chainId).blocks(missing);
    for (const block of blocks) if (block) known.set(block.number, block.hash);
    return known;
  }
}
