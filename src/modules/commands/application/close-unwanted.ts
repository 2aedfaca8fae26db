import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type Lease, slotKey } from '../../signers/index.js';
import { type Attempt, AttemptRepository, type ManagedTx, WriteChanges } from '../../transactions/index.js';

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
    private readonly attempts: AttemptRepository,
    private readonly write: WriteChanges,
  ) {}

  async execute(leases: readonly Lease[], operation: string, unwanted: readonly Unwanted[]): Promise<void> {
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

/** Nothing was signed, or every endpoint refused everything, also what others sent for the slot. */
function nothingIsOut(tx: ManagedTx, bySlot: ReadonlyMap<string, readonly Attempt[]>): boolean {
  return tx.state === 'ALLOCATED' && (bySlot.get(slotKey(tx)) ?? []).every(({ status }) => status === 'REJECTED');
}
