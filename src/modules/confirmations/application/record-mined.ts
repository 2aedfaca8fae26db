import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { HeadTracker, type Receipt } from '../../chain/index.js';
import { inSlices } from '../../../kernel/in-slices.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { FencedUnitOfWork } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  Doorbell,
  isFinal,
  LaneMemory,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';

/** A receipt of one of our attempts. */
export interface MinedAttempt {
  readonly signer: SignerId;
  readonly attempt: Attempt;
  readonly receipt: Receipt;
}

/** Blocks by which a receipt may be ahead of the blocks that were followed. */
const AHEAD = 256;

/** Txs that are in memory, and that a lane waits for, at once: a block may have many more. */
const AT_ONCE = 1_000;

/** Writes receipts back: whichever attempt of the slot was mined, its tx is MINED with it (I9). */
@Injectable()
export class RecordMined {
  constructor(
    private readonly follow: HeadTracker,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
    private readonly metrics: TxMetrics,
    private readonly log: Log,
  ) {}

  /** @returns what could not be written now */
  async execute(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    // A fill has no tx; whoever tends it asks for its receipt.
    const ofTxs = mined.filter((item) => item.attempt.txId !== null && this.isCredible(chainId, item));
    const left: MinedAttempt[] = [];
    for (const some of inSlices(ofTxs, AT_ONCE)) left.push(...(await this.record(chainId, some)));
    return left;
  }

  /**
   * A block that is not the one we followed, or far above all we know, is no place to wait for: nothing would ever look at the tx again.
   * What is true will be told again when that block is followed.
   */
  private isCredible(chainId: ChainId, { attempt, receipt: { blockNumber, blockHash } }: MinedAttempt): boolean {
    const followed = this.follow.hashAt(chainId, blockNumber);
    const tip = this.follow.tip(chainId);
    if (followed === blockHash || (followed === null && (tip === null || blockNumber <= tip + AHEAD))) return true;
    this.log.warn('a receipt names a block that is not on the chain we follow', {
      chainId,
      txHash: attempt.txHash,
      blockNumber,
      blockHash,
    });
    return false;
  }

  private record(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    return this.work.run(chainId, mined, async (leases, share) => {
      const byTx = new Map(share.map((item) => [item.attempt.txId, item]));
      const all = await this.repository.byIds(share.flatMap(({ attempt }) => attempt.txId ?? []));
      this.reportImpossible(all);
      const txs = all.filter((tx) => isOpen(tx) && this.isOfPresentSlot(tx, byTx.get(tx.id)));
      if (txs.length === 0) return;
      await this.unitOfWork.run(leases, 'mined', async (fence) => {
        const winners = txs.flatMap((tx) => byTx.get(tx.id) ?? []);
        for (const tx of txs) {
          const item = byTx.get(tx.id);
          if (item) tx.mined(item.receipt, item.attempt.kind === 'payload' ? 'payload' : 'no-op');
        }
        await this.attempts.decide(
          fence,
          winners.map(({ attempt }) => attempt),
        );
        await this.repository.save(fence, txs);
      });
      this.metrics.entered(txs);
      // Each mined one makes room below `maxInFlight`.
      const signers = leases.map((lease) => lease.signer);
      this.memory.madeRoom(signers);
      this.doorbell.ring(signers);
    });
  }

  /** A payload that moved on was mined at its old nonce all the same: a reorg deeper than what was called final. */
  private isOfPresentSlot(tx: ManagedTx, mined: MinedAttempt | undefined): boolean {
    if (mined?.attempt.nonce === tx.nonce) return true;
    this.log.error('a transaction was mined with a nonce that it had given up', {
      txId: tx.id,
      nonce: tx.nonce,
      minedNonce: mined?.attempt.nonce,
      txHash: mined?.attempt.txHash,
    });
    return false;
  }

  /** A payload that was given up as never sent is on chain: a node lied, or we did. Somebody must look. */
  private reportImpossible(txs: readonly ManagedTx[]): void {
    for (const tx of txs) {
      const { state, receipt, txHash } = tx.progress;
      if ((isFinal(state) && receipt === null) || state === 'PENDING')
        this.log.error('a transaction that every node had refused was mined', { txId: tx.id, state, txHash });
    }
  }
}

/** The same block may be read twice, and a receipt found by hash and by block: the second time there is nothing to do. */
function isOpen(tx: ManagedTx): boolean {
  return tx.state === 'ALLOCATED' || tx.state === 'IN_MEMPOOL';
}
