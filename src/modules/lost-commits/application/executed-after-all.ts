import { Injectable } from '@nestjs/common';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, type Receipt, type ReceiptLookup, RpcUnavailable } from '../../chain/index.js';
import { type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  isFinal,
  LostCommitsRepository,
  type ManagedTx,
  ManagedTxRepository,
  WriteChanges,
} from '../../ledger/index.js';

/** A tx whose slot was used in vain, and one of its attempts in a later block. */
export interface LaterSuccess {
  readonly tx: ManagedTx;
  readonly attempt: Attempt;
  readonly receipt: Receipt;
}

const MAX_SLOTS = 1_000;

/**
 * What failed in a final block, and left its nonce free, is in a later block: it was executed (docs/invariants.md, K8). No single endpoint takes
 * back what was final.
 */
@Injectable()
export class ExecutedAfterAll {
  constructor(
    private readonly chains: Chains,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly books: LostCommitsRepository,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @returns those that enough endpoints tell */
  async agreed(chainId: ChainId, told: readonly LaterSuccess[]): Promise<LaterSuccess[]> {
    if (told.length === 0) return [];
    const answers = await this.chains.get(chainId).agreedReceipts(told.map(({ receipt }) => receipt));
    return told.filter(({ receipt }, index) => {
      const answer = answers[index];
      if (answer?.kind !== 'found' || answer.receipt.blockHash !== receipt.blockHash) return false;
      return answer.receipt.status === 'success';
    });
  }

  async record(leases: readonly Lease[], agreed: readonly LaterSuccess[]): Promise<void> {
    if (agreed.length === 0) return;
    const txs = agreed.map(({ tx }) => tx);
    const rivals = await this.repository.rivals(txs);
    const filled = new Set((await this.openFills([...txs, ...rivals])).map(slotKey));
    const unfilled = txs.filter((tx) => !filled.has(slotKey(tx)));
    for (const { tx, attempt, receipt } of agreed) {
      const kind = attempt.kind === 'cancel' ? 'no-op' : 'payload';
      tx.executedAfterAll(receipt, kind, filled.has(slotKey(tx)));
      this.log.error('transaction executed after it had failed and left its nonce free', {
        txId: tx.id,
        txHash: receipt.txHash,
        block: receipt.blockNumber,
      });
    }
    const resting = rivals.filter(({ state }) => state === 'ALLOCATED' || state === 'IN_MEMPOOL');
    for (const rival of resting) rival.rivalMined();
    await this.write.execute(leases, 'mined', {
      txs: [...txs, ...resting],
      // A fill holds the slot of the others.
      slots: { reopened: unfilled.map(({ id, signer, nonce }) => ({ signer, nonce, holder: id })) },
      attempts: { decided: agreed.map(({ attempt }) => attempt) },
    });
  }

  /**
   * Looks at what failed with nonces from this one on, which are used by now, whoever saw the block that used them.
   * @throws RpcUnavailable when too few endpoints tell, after what they tell of others was recorded
   */
  async lookFor({ signer, ...lease }: Lease, from: Nonce): Promise<void> {
    const { chainId } = signer;
    const slots = await this.books.consumedFrom({ signer, nonce: from }, MAX_SLOTS);
    const holders = await this.repository.byIds(slots.flatMap(({ txId }) => txId ?? []));
    const failed = holders.filter((tx) => tx.mayHaveLeftNonceFree);
    if (failed.length === 0) return;
    const attempts = await this.attempts.ofSlots(failed);
    const txs = await this.repository.byIds(attempts.map(({ txId }) => txId));
    const placed = attempts.flatMap((attempt) => {
      const tx = txs.find(({ id }) => id === attempt.txId);
      const receipt = tx?.progress.receipt;
      return tx && receipt ? [{ ...receipt, tx, attempt, txHash: attempt.txHash }] : [];
    });
    const answers = await this.chains.get(chainId).agreedReceipts(placed);
    const executed = placed.flatMap(({ tx, attempt }, index) => {
      const answer = answers[index];
      const later = answer?.kind === 'found' && { tx, attempt, receipt: answer.receipt };
      return later && isLaterSuccess(later) ? [later] : [];
    });
    // One that is not told holds its signer, and keeps back nothing that is known of others.
    await this.record([{ signer, ...lease }], executed);
    const untold = answers.find((answer) => !isTold(answer));
    if (untold === undefined) return;
    const reason = untold.kind === 'unclear' ? `: ${untold.message}` : '';
    throw new RpcUnavailable(
      'rpc_unavailable',
      { chainId, method: 'eth_getTransactionReceipt' },
      `too few endpoints tell whether what failed was executed after all${reason}`,
    );
  }

  private async openFills(txs: readonly ManagedTx[]): Promise<ManagedTx[]> {
    const newer = await this.repository.byIds(txs.flatMap(({ progress }) => progress.replacedBy ?? []));
    return newer.filter(({ kind, state }) => kind === 'fill' && !isFinal(state));
  }
}

/** Also of what did not win its slot: then it has the receipt of what did. */
export function isLaterSuccess({ tx, attempt, receipt }: LaterSuccess): boolean {
  const before = tx.progress.receipt;
  return (
    before?.status === 'reverted' &&
    tx.state !== 'IN_MEMPOOL' &&
    attempt.nonce === tx.nonce &&
    receipt.status === 'success' &&
    receipt.blockNumber > before.blockNumber
  );
}

function isTold(answer: ReceiptLookup): boolean {
  return answer.kind === 'found' || answer.kind === 'none';
}
