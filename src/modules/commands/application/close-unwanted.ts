import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
  mayBeOut,
  WriteChanges,
} from '../../ledger/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';

const CANCELLED = 'cancelled by its client';

/** A tx that is not wanted any more: its client cancelled it, or it expired. */
export interface Unwanted {
  readonly tx: ManagedTx;
  readonly reason: string;
  /** Ends it when nothing of it was sent. */
  readonly end: (tx: ManagedTx) => void;
}

/**
 * Ends txs that are not wanted any more. What was never sent ends at once, and gives its slot back. What may be out gets a competitor: a
 * no-op at the same nonce ({@link SignNoOps}), and whichever is mined decides (docs/invariants.md, I8).
 */
@Injectable()
export class CloseUnwanted {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly write: WriteChanges,
  ) {}

  /** Carries out a cancel of a tx that has a nonce. */
  async cancel(leases: readonly Lease[], command: TxCommand): Promise<Decision> {
    const { commandId } = command;
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    // A crash, or an answer of the database that was lost, took the note that it was carried out. What came of it is no reason to refuse it.
    const { closing, failureReason } = tx.progress;
    if (closing?.reason === CANCELLED || failureReason === CANCELLED) return { commandId, refusal: null };
    const verdict = commandVerdict('cancel', tx);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    if (verdict.kind === 'done') return { commandId, refusal: null };
    await this.close(leases, 'cancel', [{ tx, reason: CANCELLED, end: (copy) => copy.cancelled(CANCELLED) }]);
    return { commandId, refusal: null };
  }

  async close(leases: readonly Lease[], operation: string, unwanted: readonly Unwanted[]): Promise<void> {
    const sent = await this.attempts.ofSlots(unwanted.map(({ tx }) => tx).filter(hasNonce));
    const bySlot = groupBy(sent, slotKey);
    const released = unwanted.map(({ tx }) => tx).filter((tx) => hasNonce(tx) && nothingIsOut(tx, bySlot));
    for (const { tx, reason, end } of unwanted) {
      if (!hasNonce(tx) || released.includes(tx)) end(tx);
      else tx.close('CANCELLED', reason);
    }
    await this.write.execute(leases, operation, {
      txs: unwanted.map(({ tx }) => tx),
      slots: { released: released.map(({ signer, nonce }) => ({ signer, nonce })) },
    });
  }
}

function hasNonce(tx: ManagedTx): boolean {
  return tx.progress.nonce !== null;
}

/** Nothing was signed for the slot, or nothing of it left a node. */
function nothingIsOut(tx: ManagedTx, bySlot: ReadonlyMap<string, readonly Attempt[]>): boolean {
  return tx.state === 'ALLOCATED' && !(bySlot.get(slotKey(tx)) ?? []).some(mayBeOut);
}
