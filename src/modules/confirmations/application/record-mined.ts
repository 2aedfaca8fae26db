import type { Lease } from '../../signers/index.js';
import {
  type Attempt,
  isFinal,
  LeasedWork,
  type ManagedTx,
  ManagedTxRepository,
  WriteChanges,
} from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { Chains, HeadTracker, readBlocks, type Receipt } from '../../chain/index.js';
import { ExecutedAfterAll, isLaterSuccess, type LaterSuccess } from '../../lost-commits/index.js';
import { inSlices } from '../../../kernel/in-slices.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { racesOf, restWhileMined } from '../domain/race.js';

/** One of our attempts with its receipt. */
export interface MinedAttempt {
  readonly signer: SignerId;
  readonly attempt: Attempt;
  readonly receipt: Receipt;
}

/** Txs to write at once: a lane waits for each write, and a block may have many more of ours. */
const MAX_TXS_AT_ONCE = 1_000;

/** Endpoints that lag tell the older block of what had failed, or none: four minutes of a chain with four blocks a second. */
const UNPROVEN_FOR_BLOCKS = 1_000;

/** Whether the blocks that receipts name are on the followed chain. */
@Injectable()
export class RealBlocks {
  constructor(
    private readonly chains: Chains,
    private readonly tracker: HeadTracker,
    private readonly log: Log,
  ) {}

  /**
   * Without those of blocks that are on another branch, that are not followed yet, or that no endpoint shows: preconfirmations, which may never
   * be in a block (docs/invariants.md, K2). A tx that is MINED in such a block would never be checked again. A true receipt is found again when
   * its block is followed.
   */
  async among(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    const tip = this.tracker.tip(chainId);
    const reached = mined.filter(({ receipt }) => tip === null || receipt.blockNumber <= tip);
    const heights = [...new Set(reached.map(({ receipt }) => receipt.blockNumber))];
    const hashes = new Map(heights.map((height) => [height, this.tracker.hashAt(chainId, height)]));
    const unknown = heights.filter((height) => hashes.get(height) === null);
    const shown = unknown.length === 0 ? [] : await readBlocks(this.chains.get(chainId), unknown);
    for (const [index, height] of unknown.entries()) hashes.set(height, shown[index]?.hash ?? null);
    return reached.filter(({ attempt: { txHash }, receipt: { blockNumber, blockHash } }) => {
      if (hashes.get(blockNumber) === blockHash) return true;
      this.log.warn('receipt ignored: its block is not on the followed chain', {
        chainId,
        txHash,
        blockNumber,
        blockHash,
      });
      return false;
    });
  }

  isRecent(chainId: ChainId, { receipt }: MinedAttempt): boolean {
    return receipt.blockNumber >= (this.tracker.tip(chainId) ?? 0) - UNPROVEN_FOR_BLOCKS;
  }
}

/** Writes receipts: any attempt of a slot can be the mined one, and makes its tx MINED (docs/invariants.md, I9). */
@Injectable()
export class RecordMined {
  /** Looked at again with each block: too few endpoints told that what had failed was executed. */
  private readonly unproven = new Map<ChainId, readonly MinedAttempt[]>();

  constructor(
    private readonly real: RealBlocks,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly afterAll: ExecutedAfterAll,
    private readonly log: Log,
  ) {}

  /** @returns the receipts that could not be written now */
  async execute(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    const unproven = (this.unproven.get(chainId) ?? []).filter((item) => this.real.isRecent(chainId, item));
    this.unproven.set(chainId, unproven);
    const credible = await this.real.among(chainId, [...unproven, ...mined]);
    const left: MinedAttempt[] = [];
    for (const some of inSlices(credible, MAX_TXS_AT_ONCE)) left.push(...(await this.record(chainId, some)));
    return left;
  }

  private record(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    return this.work.run(chainId, mined, async (leases, share) => {
      const byTx = new Map(successLast(share).map((item) => [item.attempt.txId, item]));
      const all = await this.repository.byIds(share.map(({ attempt }) => attempt.txId));
      this.reportImpossible(all, byTx);
      const open = all.filter((tx) => isOpen(tx) && this.isOfPresentSlot(tx, byTx.get(tx.id)));
      const moved = all.filter((tx) => tx.state === 'MINED' && isLater(tx, byTx.get(tx.id)));
      for (const tx of moved) tx.reorged();
      const txs = [...open, ...moved];
      for (const tx of txs) {
        const item = byTx.get(tx.id);
        if (item) tx.mined(item.receipt, item.attempt.kind === 'cancel' ? 'no-op' : 'payload');
      }
      const raced = txs.filter((tx) => tx.mayHaveRivals);
      const resting = racesOf(raced, await this.repository.rivals(raced)).flatMap(restWhileMined);
      await this.write.execute(leases, 'mined', {
        txs: [...txs, ...resting],
        attempts: { decided: txs.flatMap((tx) => byTx.get(tx.id)?.attempt ?? []) },
      });
      await this.recordLater(leases, chainId, all, byTx);
    });
  }

  /** Of final txs. What is not proven is kept until it is written, or its block is orphaned or old. */
  private async recordLater(
    leases: readonly Lease[],
    chainId: ChainId,
    all: readonly ManagedTx[],
    byTx: ReadonlyMap<string, MinedAttempt>,
  ): Promise<void> {
    const told = all.flatMap((tx): (LaterSuccess & MinedAttempt)[] => {
      const item = byTx.get(tx.id);
      return item && isFinal(tx.state) && isLater(tx, item) ? [{ ...item, tx }] : [];
    });
    const others = (this.unproven.get(chainId) ?? []).filter(({ attempt }) => !byTx.has(attempt.txId));
    this.unproven.set(chainId, [...others, ...told]);
    const agreed = await this.afterAll.agreed(chainId, told);
    await this.afterAll.record(leases, agreed);
    this.unproven.set(chainId, [...others, ...told.filter((item) => !agreed.includes(item))]);
  }

  /** False for a payload that moved to another nonce and was mined with its old one, after a reorg deeper than finality. */
  private isOfPresentSlot(tx: ManagedTx, mined: MinedAttempt | undefined): boolean {
    if (mined?.attempt.nonce === tx.nonce) return true;
    this.log.error('transaction mined with a nonce that it no longer has', {
      txId: tx.id,
      nonce: tx.nonce,
      minedNonce: mined?.attempt.nonce,
      txHash: mined?.attempt.txHash,
    });
    return false;
  }

  /** Reports a mined tx that had ended otherwise, or waits for a nonce. An operator has to check it. */
  private reportImpossible(txs: readonly ManagedTx[], mined: ReadonlyMap<string, MinedAttempt>): void {
    for (const tx of txs) {
      const { state, receipt } = tx.progress;
      const txHash = mined.get(tx.id)?.attempt.txHash;
      if ((isFinal(state) && receipt?.txHash !== txHash) || state === 'PENDING')
        this.log.error('transaction mined that had ended', { txId: tx.id, state, txHash });
    }
  }
}

/** A later block executed what had failed in the block that is known, and left its nonce free. */
function isLater(tx: ManagedTx, item: MinedAttempt | undefined): boolean {
  return item !== undefined && isLaterSuccess({ ...item, tx });
}

/** Of two attempts of one tx, one may have failed and left the nonce free, and the other one was executed. */
function successLast(mined: readonly MinedAttempt[]): MinedAttempt[] {
  const isSuccess = ({ receipt }: MinedAttempt): boolean => receipt.status === 'success';
  return [...mined.filter((item) => !isSuccess(item)), ...mined.filter(isSuccess)];
}

/** False for a receipt that is already written: a block may be read twice, and a receipt may be found by hash and by block. */
function isOpen(tx: ManagedTx): boolean {
  return tx.state === 'ALLOCATED' || tx.state === 'IN_MEMPOOL';
}
