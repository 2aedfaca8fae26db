import { type Attempt, isFinal, LeasedWork, ManagedTx, ManagedTxRepository, WriteChanges } from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { Chains, HeadTracker, readBlocks, type Receipt } from '../../chain/index.js';
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

/** Writes receipts: any attempt of a slot can be the mined one, and makes its tx MINED (docs/invariants.md, I9). */
@Injectable()
export class RecordMined {
  /** Looked at again with the next block: too few endpoints told that what had failed was executed. */
  private readonly unproven = new Map<ChainId, readonly MinedAttempt[]>();

  constructor(
    private readonly chains: Chains,
    private readonly tracker: HeadTracker,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @returns the receipts that could not be written now */
  async execute(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    const credible = await this.inRealBlocks(chainId, [...(this.unproven.get(chainId) ?? []), ...mined]);
    this.unproven.delete(chainId);
    const left: MinedAttempt[] = [];
    for (const some of inSlices(credible, MAX_TXS_AT_ONCE)) left.push(...(await this.record(chainId, some)));
    return left;
  }

  /**
   * Without those of blocks that are on another branch, that are not followed yet, or that no endpoint shows: preconfirmations, which may never
   * be in a block (docs/invariants.md, K2). A tx that is MINED in such a block would never be checked again. A true receipt is found again when
   * its block is followed.
   */
  private async inRealBlocks(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
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

  private record(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
    return this.work.run(chainId, mined, async (leases, share) => {
      const byTx = new Map(share.map((item) => [item.attempt.txId, item]));
      const all = await this.repository.byIds(share.map(({ attempt }) => attempt.txId));
      this.reportImpossible(all, byTx);
      const open = all.filter((tx) => isOpen(tx) && this.isOfPresentSlot(tx, byTx.get(tx.id)));
      const again = await this.executedAfterAll(chainId, all, byTx);
      const txs = [...open, ...again];
      const winners = txs.flatMap((tx) => byTx.get(tx.id) ?? []);
      // A fill holds the slot of the others.
      const reopened = again.filter(({ progress }) => progress.replacedBy === null);
      for (const tx of txs) {
        const item = byTx.get(tx.id);
        const kind = item?.attempt.kind === 'cancel' ? 'no-op' : 'payload';
        if (item && isOpen(tx)) tx.mined(item.receipt, kind);
        else if (item) tx.executedAfterAll(item.receipt, kind);
      }
      const raced = txs.filter((tx) => tx.mayHaveRivals);
      const resting = racesOf(raced, await this.repository.rivals(raced)).flatMap(restWhileMined);
      await this.write.execute(leases, 'mined', {
        txs: [...txs, ...resting],
        slots: { reopened: reopened.map(({ id, signer, nonce }) => ({ signer, nonce, holder: id })) },
        attempts: { decided: winners.map(({ attempt }) => attempt) },
      });
    });
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

  /**
   * What failed in a final block, and left its nonce free, is in a later block: it was executed (docs/invariants.md, K8). No single endpoint takes
   * back what was final.
   */
  private async executedAfterAll(
    chainId: ChainId,
    txs: readonly ManagedTx[],
    mined: ReadonlyMap<string, MinedAttempt>,
  ): Promise<ManagedTx[]> {
    const told = txs.flatMap((tx) => {
      const item = mined.get(tx.id);
      return item && isLaterSuccess(tx, item) ? [{ tx, item }] : [];
    });
    if (told.length === 0) return [];
    const answers = await this.chains.get(chainId).agreedReceipts(told.map(({ item }) => item.receipt));
    return told.flatMap(({ tx, item }, index) => {
      const [{ receipt }, answer] = [item, answers[index]];
      if (answer?.kind !== 'found' && answer?.kind !== 'none')
        this.unproven.set(chainId, [...(this.unproven.get(chainId) ?? []), item]);
      if (answer?.kind !== 'found' || answer.receipt.blockHash !== receipt.blockHash) return [];
      if (answer.receipt.status !== 'success') return [];
      const { txHash, blockNumber: block } = receipt;
      this.log.error('transaction executed after it had failed and left its nonce free', {
        txId: tx.id,
        txHash,
        block,
      });
      return [tx];
    });
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

function isLaterSuccess(tx: ManagedTx, { attempt, receipt }: MinedAttempt): boolean {
  const before = tx.progress.receipt;
  return (
    tx.mayHaveLeftNonceFree &&
    before !== null &&
    attempt.nonce === tx.nonce &&
    receipt.status === 'success' &&
    receipt.blockNumber > before.blockNumber
  );
}

/** False for a receipt that is already written: a block may be read twice, and a receipt may be found by hash and by block. */
function isOpen(tx: ManagedTx): boolean {
  return tx.state === 'ALLOCATED' || tx.state === 'IN_MEMPOOL';
}
