import { Injectable } from '@nestjs/common';
import type { Nonce } from '../../../kernel/signer-id.js';
import { agreedHashes, type ChainConnector, Chains, type PlacedTx } from '../../chain/index.js';
import { Custody, type Lease, type SlotRef } from '../../signers/index.js';
import { LostCommitsRepository, type ManagedTx, ManagedTxRepository } from '../../ledger/index.js';
import { FillNonceGaps, type FreeSlot } from './fill-nonce-gaps.js';

/** More than one call fills; with more than these the chain lost blocks. */
const MOST_SLOTS = 10_000;

/** A nonce that a failed transaction left free, and that transaction. */
export type LeftFree = Required<FreeSlot> & PlacedTx;

/**
 * The nonces that failed transactions left free: the chain put them into blocks, and did not raise the nonce of the account
 * (docs/invariants.md, K8). A no-op takes them, so that what is behind them goes on, and what failed is not executed after all.
 */
@Injectable()
export class LeftFreeNonces {
  constructor(
    private readonly chains: Chains,
    private readonly repository: LostCommitsRepository,
    private readonly txs: ManagedTxRepository,
    private readonly fillGaps: FillNonceGaps,
    private readonly custody: Custody,
  ) {}

  /**
   * @param from the chain's next nonce
   * @param atMost how many of them to return: what is above them decides all the same
   * @returns lowest first; null when we call another nonce used that is not below it: of what was not executed in vain, or is not in the block
   * that we know, by what the endpoints agree on. Then the chain lost blocks, or an endpoint lies.
   */
  async find(from: SlotRef, atMost: number): Promise<LeftFree[] | null> {
    const slots = await this.repository.consumedFrom(from, MOST_SLOTS + 1);
    const txs = await this.txs.byIds(slots.flatMap(({ txId }) => txId ?? []));
    const byId = new Map(txs.map((tx) => [tx.id, tx]));
    const left = slots.flatMap(({ nonce, txId }) => leftBy(byId.get(txId ?? ''), nonce));
    if (left.length < slots.length || slots.length > MOST_SLOTS) return null;
    const isAsKnown = await this.areAsKnown(this.chains.get(from.signer.chainId), left);
    return isAsKnown ? left.slice(0, atMost) : null;
  }

  /**
   * The transactions stay ended, and fills compete with their bytes. Not where outside senders have the key: what failed may be executed after all, and
   * its sender may send again with its nonce, so nobody else gets it.
   * @returns the nonces that fills got
   */
  async fill(lease: Lease, left: readonly LeftFree[]): Promise<Nonce[]> {
    if (this.custody.isExternal(lease.signer)) return [];
    await this.fillGaps.fill(lease.signer.chainId, [lease], left);
    return left.map(({ nonce }) => nonce);
  }

  private async areAsKnown(chain: ChainConnector, left: readonly LeftFree[]): Promise<boolean> {
    const heights = left.flatMap(({ leftBy: { progress } }) => progress.receipt?.blockNumber ?? []);
    const hashes = await agreedHashes(chain, heights);
    const answers = await chain.agreedReceipts(left);
    return left.every(({ leftBy: tx, blockHash }, index) => {
      const answer = answers[index];
      return (
        hashes.get(tx.progress.receipt?.blockNumber ?? -1)?.value === blockHash &&
        answer?.kind === 'found' &&
        answer.receipt.blockHash === blockHash &&
        answer.receipt.status === 'reverted'
      );
    });
  }
}

function leftBy(tx: ManagedTx | undefined, nonce: Nonce): LeftFree[] {
  const receipt = tx?.progress.receipt;
  if (!tx || !receipt || !tx.mayHaveLeftNonceFree || tx.nonce !== nonce) return [];
  const { txHash, blockHash, blockNumber } = receipt;
  return [{ signer: tx.signer, nonce, leftBy: tx, txHash, blockHash, blockNumber }];
}
