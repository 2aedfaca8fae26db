import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import {
  type BlockRef,
  Chains,
  type FinalHeights,
  FinalityRule,
  HeadTracker,
  type Receipt,
} from '../../chain/index.js';
import { FencedUnitOfWork, LeaseManager, NonceLedger } from '../../signers/index.js';
import {
  AttemptRepository,
  LeasedWork,
  type ConfirmationRange,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';
import { ReadReceipts, type ReceiptsByHash, Rereading } from './read-receipts.js';
import { ReceiptMetrics } from './receipt-metrics.js';

/** Txs per look; the next block continues. */
const BATCH = 1_000;

/** The newest block that was followed. */

/** What a decision is made from. */
interface Look {
  readonly head: BlockRef | null;
  /** Receipts as they are now. */
  readonly fresh: ReceiptsByHash;
}

const NOTHING_NEW: Look = { head: null, fresh: new Map() };

/** What became of a receipt. */
type Fate = 'final' | 'gone' | 'changed' | 'open';

/**
 * Makes MINED final: deep enough, and by block hash still on the chain, for success and for revert alike (I9). One whose
 * block is gone goes back to the mempool instead.
 */
@Injectable()
export class Finalizer {
  /** How many of the first the last looks could not decide: the next look begins behind them, so that they hold up nobody. */
  private readonly undecided = new Map<ChainId, number>();

  constructor(
    private readonly chains: Chains,
    private readonly follow: HeadTracker,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly ledger: NonceLedger,
    private readonly finality: FinalityRule,
    private readonly metrics: TxMetrics,
    private readonly receipts: ReceiptMetrics,
    private readonly reader: ReadReceipts,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, head: number): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const upTo = await this.provenUpTo(chainId, signers, head);
    if (upTo === null) return;
    const rereading = new Rereading(this.reader, this.chains.get(chainId));
    let decided: number;
    do {
      const skip = this.undecided.get(chainId) ?? 0;
      const deep = await this.repository.minedUpTo(chainId, signers, upTo, { skip, limit: BATCH });
      const canonical = await this.canonicalHashes(chainId, deep);
      const { found, gone } = await rereading.of(deep.flatMap((tx) => tx.progress.receipt ?? []));
      decided = await this.decide(chainId, deep, { head: this.blocksUpTo(chainId, head), fresh: found }, (receipt) =>
        gone.has(receipt.txHash)
          ? 'gone'
          : fate(receipt, canonical.get(receipt.blockNumber), found.get(receipt.txHash)),
      );
      this.undecided.set(chainId, deep.length < BATCH ? 0 : skip + deep.length - decided);
      // What is asked for again and again has cost its time: the next block goes on.
    } while (decided === BATCH);
  }

  /**
   * Blocks are linked by hash, so below a block of ours that the endpoints agree on they agree on everything. One that follows another
   * branch, or claims a head far ahead, makes nothing final. Costs a call only when something is deep enough.
   */
  protected async provenUpTo(
    chainId: ChainId,
    signers: readonly SignerId[],
    head: number,
  ): Promise<FinalHeights | null> {
    const told = await this.finalUpTo(chainId, head);
    if (told === null) return null;
    const [first] = await this.repository.minedUpTo(chainId, signers, told, { skip: 0, limit: 1 });
    if (!first) return null;
    const agreed = await this.finality.agreedHead(this.chains.get(chainId), head);
    const isOurs = agreed !== null && agreed.hash === this.follow.hashAt(chainId, agreed.number);
    if (!isOurs) {
      this.log.warn('nothing becomes final: the head is not agreed on, or was seen only once', { chainId, head });
      return null;
    }
    return agreed.number === head ? told : this.finalUpTo(chainId, agreed.number);
  }

  /** Where it costs a call to the node, only when something waits for it. */
  protected async finalUpTo(chainId: ChainId, head: number): Promise<FinalHeights | null> {
    if (this.finality.asksTheChain(chainId) && !(await this.repository.anyMined(chainId))) return null;
    return this.finality.heights(this.chains.get(chainId), head);
  }

  /** For blocks that are no longer canonical; called with what a reorg took back. */
  async undo(chainId: ChainId, orphaned: readonly Hash[]): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0 || orphaned.length === 0) return;
    const gone = new Set(orphaned);
    await this.decide(chainId, await this.repository.minedIn(chainId, signers, orphaned), NOTHING_NEW, (receipt) =>
      gone.has(receipt.blockHash) ? 'gone' : 'open',
    );
  }

  /** @returns how many were decided */
  private async decide(
    chainId: ChainId,
    mined: readonly ManagedTx[],
    { head, fresh }: Look,
    fateOf: (receipt: Receipt) => Fate,
  ): Promise<number> {
    let decided = 0;
    await this.work.run(chainId, mined, async (leases, share) => {
      // Read again: the signer's worker may have moved them since.
      const txs = (await this.repository.byIds(share.map((tx) => tx.id))).filter((tx) => tx.state === 'MINED');
      const withFate = (fate: Fate): ManagedTx[] =>
        txs.filter(({ progress }) => progress.receipt !== null && fateOf(progress.receipt) === fate);
      const final = withFate('final');
      const gone = withFate('gone');
      const changed = withFate('changed');
      await this.unitOfWork.run(leases, 'settle', async (fence) => {
        for (const tx of final) tx.settled('execution reverted', confirmationsOf(tx, head));
        for (const tx of gone) tx.reorged();
        for (const tx of changed) this.correct(tx, tx.progress.receipt && fresh.get(tx.progress.receipt.txHash));
        await this.ledger.consume(
          fence,
          final.flatMap((tx) => slotOf(tx)),
        );
        await this.attempts.reopen(fence, gone);
        await this.repository.save(fence, [...final, ...gone, ...changed]);
      });
      this.metrics.entered([...final, ...gone]);
      this.receipts.newFork(gone.length);
      decided += final.length + gone.length;
    });
    return decided;
  }

  /** Two answers differ. Which is right shows at the next look, when it is read once more. */
  private correct(tx: ManagedTx, receipt: Receipt | null | undefined): void {
    if (!receipt) return;
    this.log.error('two answers differ about one receipt', { txId: tx.id, status: receipt.status });
    tx.receiptChanged(receipt);
  }

  private blocksUpTo(chainId: ChainId, number: number): BlockRef | null {
    const hash = this.follow.hashAt(chainId, number);
    return hash && { number, hash };
  }

  /** From what was followed; for blocks from before this node followed the chain, from the chain itself. */
  private async canonicalHashes(chainId: ChainId, txs: readonly ManagedTx[]): Promise<ReadonlyMap<number, Hash>> {
    const numbers = [...new Set(txs.flatMap((tx) => tx.progress.receipt?.blockNumber ?? []))];
    const known = new Map(
      numbers.flatMap((number): [number, Hash][] => entry(number, this.follow.hashAt(chainId, number))),
    );
    const missing = numbers.filter((number) => !known.has(number));
    const blocks = missing.length === 0 ? [] : await this.chains.get(chainId).blocks(missing);
    for (const block of blocks) if (block) known.set(block.number, block.hash);
    return known;
  }
}

/** Every block on top of the tx's own. */
function confirmationsOf(tx: ManagedTx, head: BlockRef | null): ConfirmationRange | null {
  const { receipt } = tx.progress;
  if (!head || !receipt || head.number <= receipt.blockNumber) return null;
  return { from: receipt.blockNumber + 1, to: head.number, hash: head.hash };
}

/** A height whose canonical block is not known decides nothing, nor does a receipt that cannot be read again. */
function fate(receipt: Receipt, canonical: Hash | undefined, fresh: Receipt | undefined): Fate {
  if (canonical === undefined) return 'open';
  if (canonical !== receipt.blockHash) return 'gone';
  if (fresh === undefined) return 'open';
  return fresh.status === receipt.status ? 'final' : 'changed';
}

function slotOf(tx: ManagedTx): { signer: ManagedTx['signer']; nonce: bigint; txHash: Hash }[] {
  const { receipt } = tx.progress;
  return receipt ? [{ signer: tx.signer, nonce: tx.nonce, txHash: receipt.txHash }] : [];
}

function entry(number: number, hash: Hash | null): [number, Hash][] {
  return hash === null ? [] : [[number, hash]];
}
