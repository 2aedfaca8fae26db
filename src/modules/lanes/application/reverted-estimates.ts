import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import { type ChainBlocks, type GasEstimate, HeadTracker, SecondObservations } from '../../chain/index.js';
import {
  hashRequest,
  type ManagedTx,
  type PendingTx,
  requestText,
  type StoredRequest,
  TxQueue,
} from '../../ledger/index.js';

/**
 * Decides which reverting estimates end a payload. An observation at a later block must have the same revert reason, and every earlier
 * payload of the signer must be mined: a swap reverts until its approval is mined. A tx that is MINED in the database may already be
 * orphaned on the chain, so the second observation counts only when the head tracker follows the block of the first one.
 */
@Injectable()
export class RevertedEstimates {
  constructor(
    private readonly queue: TxQueue,
    private readonly observations: SecondObservations,
    private readonly tracker: HeadTracker,
  ) {}

  /** @returns the ids of txs whose estimate is proven to revert */
  async proven(
    chain: ChainBlocks,
    pending: readonly PendingTx[],
    estimates: ReadonlyMap<string, GasEstimate>,
  ): Promise<ReadonlySet<string>> {
    const refused = pending.flatMap(({ tx, request }) => {
      const reason = reasonOf(estimates.get(tx.id));
      return reason === null ? [] : [{ tx, reason, key: keyOf(tx, request) }];
    });
    if (refused.length === 0) return new Set();
    const block = await chain.head();
    const firstIsFollowed = new Map(refused.map(({ tx, key }) => [tx.id, this.isFirstFollowed(chain.chainId, key)]));
    // Read after the check above: a tx in an orphaned block counts as unmined only once the head tracker has applied the reorg.
    const oldest = await this.queue.oldestUnmined(
      signersOf(refused.map(({ tx }) => tx)),
      refused.map(({ tx }) => tx.id),
    );
    const waits = (tx: ManagedTx): boolean =>
      isBefore(oldest.get(signerKey(tx.signer)), tx) || this.hasReadyBefore(tx, pending, estimates);
    const proven = new Map<string, string>();
    for (const { tx, reason, key } of refused) {
      const isFollowed = firstIsFollowed.get(tx.id);
      // An observation from before the predecessor was mined, or from an orphaned block, proves nothing.
      if (waits(tx) || isFollowed === false) this.observations.forget(key);
      else if (isFollowed && this.observations.agree('fail_payload', key, stablePart(reason), block))
        proven.set(tx.id, key);
    }
    for (const key of proven.values()) this.observations.forget(key);
    return new Set(proven.keys());
  }

  /** True also when there is no observation yet. */
  private isFirstFollowed(chainId: ChainId, key: string): boolean | null {
    const block = this.observations.firstBlock(key);
    return block === null || this.tracker.isFollowed(chainId, block);
  }

  private hasReadyBefore(
    tx: ManagedTx,
    pending: readonly PendingTx[],
    estimates: ReadonlyMap<string, GasEstimate>,
  ): boolean {
    return pending.some(
      ({ tx: other }) =>
        other.id < tx.id &&
        signerKey(other.signer) === signerKey(tx.signer) &&
        reasonOf(estimates.get(other.id)) === null,
    );
  }
}

/** An observation of a payload says nothing about another one that a client put in its place. */
function keyOf({ id }: ManagedTx, request: StoredRequest): string {
  return `estimate ${id} ${hashRequest(requestText(request))}`;
}

function reasonOf(estimate: GasEstimate | undefined): string | null {
  if (estimate?.kind === 'reverted') return estimate.reason;
  return estimate?.kind === 'rejected' ? estimate.message : null;
}

/** Without what may differ each time: numbers and addresses, such as a block or a time in the text. Its words and selectors stay. */
function stablePart(reason: string): string {
  return reason.startsWith('custom error') || reason.startsWith('panic')
    ? reason
    : reason.replace(/0x[0-9a-f]+|\d+/gi, '#');
}

/** Ids grow with time (UUIDv7). */
function isBefore(id: string | undefined, tx: ManagedTx): boolean {
  return id !== undefined && id < tx.id;
}
