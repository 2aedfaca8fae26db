import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { groupBy } from '../../../kernel/group-by.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { LeaseManager, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  attemptsFor,
  ManagedTx,
  ManagedTxRepository,
} from '../../transactions/index.js';

export const MAX_TXS_PER_CALL = 50;

/** A tx whose receipt check is due, with its attempts, and with those of the txs that compete for its slot. */
export interface DueTx {
  readonly signer: SignerId;
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

/** Reads the txs of this node's signers whose receipt check is due. */
@Injectable()
export class DueReceipts {
  constructor(
    private readonly leases: LeaseManager,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly config: ConfirmationsConfig,
  ) {}

  async execute(chainId: ChainId): Promise<DueTx[]> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return [];
    const limit = this.config.receiptWorkers * MAX_TXS_PER_CALL;
    const txs = await this.repository.dueForReceiptCheck(chainId, signers, limit);
    const attempts = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const bySlot = groupBy(attempts, slotKey);
    return txs.map((tx) => ({ signer: tx.signer, tx, attempts: attemptsFor(tx, bySlot.get(slotKey(tx)) ?? []) }));
  }
}
