import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type BlockRef, BlockStore, Chains, type ChainUpdate, SecondObservations } from '../../chain/index.js';
import { FencedUnitOfWork, LeaseManager, NonceLedger } from '../../signers/index.js';
import {
  AttemptRepository,
  isFinal,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';
import { FindReorgedFinals } from './find-reorged-finals.js';
import { ReceiptMetrics } from './receipt-metrics.js';
import { ReopenNonces } from '../../nonces/index.js';

/** Final txs in suspected blocks. */
interface Asked {
  /** Another block is in the place of theirs. */
  readonly gone: readonly ManagedTx[];
  /** What is there is not known. */
  readonly open: readonly ManagedTx[];
}

/** Blocks; whatever became final since the lowest suspect is looked at, and a start must not look at days of it. */
const LOOK_BACK = 64;

/**
 * Takes back what was called final when a reorg is deeper than that (design, section 10), loudly. Their signers may be idle,
 * and nobody's: whoever can takes the lease, for nobody else may be following the chain. What belongs to another node is looked at again with every block until that node,
 * or its successor, has done it.
 */
@Injectable()
export class ReopenFinal {
  /** Numbers of blocks that were taken back, by hash, as long as something final may be in them. */
  private readonly suspects = new Map<ChainId, Map<Hash, number>>();
  /** Of the blocks that are stored as taken back, those that were suspects already. */
  private readonly known = new Map<ChainId, ReadonlySet<Hash>>();

  constructor(
    private readonly chains: Chains,
    private readonly blocks: BlockStore,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly ledger: NonceLedger,
    private readonly metrics: TxMetrics,
    private readonly receipts: ReceiptMetrics,
    private readonly reorgedFinals: FindReorgedFinals,
    private readonly slots: ReopenNonces,
    private readonly looks: SecondObservations,
    private readonly log: Log,
  ) {}

  /** Whether something of the chain is to be looked at again with the next block. */
  isWaiting(chainId: ChainId): boolean {
    const hasSuspects = (this.suspects.get(chainId)?.size ?? 0) > 0;
    return hasSuspects || this.slots.isWaiting(chainId) || this.reorgedFinals.isWaiting(chainId);
  }

  async execute(update: ChainUpdate): Promise<void> {
    const { chainId, orphaned } = update;
    const stored = await this.blocks.orphaned(chainId, LOOK_BACK);
    const before = this.known.get(chainId);
    const told = stored.filter(({ hash }) => !before?.has(hash));
    const suspects = await this.suspectsAfter(update, told);
    const lowest = suspects.size === 0 ? null : Math.min(...suspects.values());
    const txs = lowest === null ? [] : await this.repository.finalIn(chainId, lowest, [...suspects.keys()]);
    const { gone, open } = await this.ask(chainId, txs);
    if (gone.length > 0) await this.leases.takeFree(signersOf(gone));
    await this.reopenTxs(chainId, gone, suspects);
    await this.slots.execute(chainId, told.length > 0 || orphaned.length > 0 ? lowest : null);
    // What is on the chain after all is no suspect any more.
    if (gone.length === 0 && open.length === 0) suspects.clear();
    // Only now: after a failure the same update comes again, and must find the same.
    this.suspects.set(chainId, suspects);
    this.known.set(chainId, new Set([...stored, ...orphaned].map(({ hash }) => hash)));
  }

  /**
   * Nothing is taken back on the word of what was stored or followed: the endpoints must agree on another block in its place, by the
   * evidence of `reopen_final`.
   */
  private async ask(chainId: ChainId, txs: readonly ManagedTx[]): Promise<Asked> {
    if (txs.length === 0) return { gone: [], open: [] };
    const heights = [...new Set(txs.flatMap(({ progress }) => progress.receipt?.blockNumber ?? []))];
    const hashes = await this.agreedHashes(chainId, heights);
    const hashOf = ({ progress: { receipt } }: ManagedTx): Hash | null =>
      receipt && (hashes.get(receipt.blockNumber) ?? null);
    return {
      gone: txs.filter((tx) => hashOf(tx) !== null && hashOf(tx) !== tx.progress.receipt?.blockHash),
      open: txs.filter((tx) => hashOf(tx) === null),
    };
  }

  /** By height; null where it is not known, or where one endpoint alone has said it only once. */
  private async agreedHashes(chainId: ChainId, heights: readonly number[]): Promise<ReadonlyMap<number, Hash | null>> {
    const chain = this.chains.get(chainId);
    const agreed = await chain.agreedBlocks(heights);
    const head = agreed.some((block) => block?.isAlone) ? await chain.head() : null;
    return new Map(
      heights.map((height, index) => {
        const told = agreed[index];
        if (!told) return [height, null];
        const isProven =
          head === null ||
          !told.isAlone ||
          this.looks.agree('reopen_final', `reopen ${chainId} ${height}`, told.value, head);
        return [height, isProven ? told.value : null];
      }),
    );
  }

  /**
   * @param told blocks that another node followed, and this one may never have seen: before it was started, or because it went from one
   *   branch to a third at once. What became final in them may be this node's to open by now.
   */
  private async suspectsAfter(
    { chainId, blocks, orphaned, gap }: ChainUpdate,
    told: readonly BlockRef[],
  ): Promise<Map<Hash, number>> {
    const suspects = new Map(this.suspects.get(chainId) ?? []);
    for (const { number, hash } of [...told, ...orphaned]) suspects.set(hash, number);
    // The reorg may reach below the blocks that were followed, here or by the node that stored it, which may act no more.
    const ours = new Set(orphaned.map(({ hash }) => hash));
    const mayReachBelow = told.some(({ hash }) => !ours.has(hash)) || (gap && orphaned.length > 0);
    const below = await this.reorgedFinals.execute(chainId, mayReachBelow);
    for (const { number, hash } of below) suspects.set(hash, number);
    for (const { hash } of blocks) suspects.delete(hash);
    return suspects;
  }

  private async reopenTxs(
    chainId: ChainId,
    final: readonly ManagedTx[],
    suspects: ReadonlyMap<Hash, number>,
  ): Promise<void> {
    await this.work.run(chainId, final, async (leases, share) => {
      // Read again: the signer's worker may have moved them since.
      const txs = (await this.repository.byIds(share.map((tx) => tx.id))).filter(
        ({ state, progress: { receipt } }) => isFinal(state) && receipt !== null && suspects.has(receipt.blockHash),
      );
      if (txs.length === 0) return;
      for (const tx of txs) {
        this.log.error('a final transaction was taken back by a reorg', {
          txId: tx.id,
          state: tx.state,
          block: tx.progress.receipt?.blockNumber,
        });
        tx.reorged();
      }
      await this.unitOfWork.run(leases, 'reopen', async (fence) => {
        await this.ledger.reopen(fence, txs);
        await this.attempts.reopen(fence, txs);
        await this.repository.save(fence, txs);
      });
      this.metrics.entered(txs);
      this.receipts.newFork(txs.length);
    });
  }
}
