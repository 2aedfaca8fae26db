import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import {
  type BlockRef,
  type ChainConnector,
  type GasEstimate,
  HeadTracker,
  SecondObservations,
} from '../../chain/index.js';
import { type ManagedTx, ManagedTxRepository, type PendingTx } from '../../transactions/index.js';

/**
 * An estimate that reverts ends a payload only when a look at a later block says the same, and when nothing of the signer that came
 * before it is still to be mined: a swap reverts until its approval is mined. What is mined here may be taken back on the chain already,
 * so the second look counts when the block of the first one was followed.
 */
@Injectable()
export class RevertedEstimates {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly looks: SecondObservations,
    private readonly follow: HeadTracker,
  ) {}

  /** @returns the ids of those that will never succeed */
  async execute(
    chain: ChainConnector,
    pending: readonly PendingTx[],
    estimates: ReadonlyMap<string, GasEstimate>,
  ): Promise<ReadonlySet<string>> {
    const refused = pending.flatMap(({ tx }) => {
      const words = reasonOf(estimates.get(tx.id));
      return words === null ? [] : [{ tx, words }];
    });
    if (refused.length === 0) return new Set();
    const block = await chain.head();
    const oldest = await this.repository.oldestUnmined(
      signersOf(refused.map(({ tx }) => tx)),
      refused.map(({ tx }) => tx.id),
    );
    const waits = (tx: ManagedTx): boolean =>
      isBefore(oldest.get(signerKey(tx.signer)), tx) || this.hasReadyBefore(tx, pending, estimates);
    const doomed = new Set<string>();
    for (const { tx, words } of refused) {
      const key = `estimate ${tx.id}`;
      const first = this.looks.firstBlock(key);
      // What was seen before its predecessor was mined, or on a branch that is gone, proves nothing afterwards.
      if (waits(tx) || this.isGone(chain.chainId, first)) this.looks.forget(key);
      else if (this.isFollowed(chain.chainId, first) && this.looks.agree('fail_payload', key, words, block))
        doomed.add(tx.id);
    }
    for (const txId of doomed) this.looks.forget(`estimate ${txId}`);
    return doomed;
  }

  private isFollowed(chainId: ChainId, block: BlockRef | null): boolean {
    return block === null || (this.follow.tip(chainId) ?? -1) >= block.number;
  }

  private isGone(chainId: ChainId, block: BlockRef | null): boolean {
    const hash = block && this.follow.hashAt(chainId, block.number);
    return hash !== null && hash !== block?.hash;
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

function reasonOf(estimate: GasEstimate | undefined): string | null {
  if (estimate?.kind === 'reverted') return estimate.reason;
  return estimate?.kind === 'rejected' ? estimate.message : null;
}

/** Ids grow with time (UUIDv7). */
function isBefore(id: string | undefined, tx: ManagedTx): boolean {
  return id !== undefined && id < tx.id;
}
