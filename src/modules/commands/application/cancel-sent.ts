import { Injectable } from '@nestjs/common';
import type { Lease } from '../../signers/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';
import { CloseUnwanted } from './close-unwanted.js';

/** Carries out cancels of txs that have a nonce. */
@Injectable()
export class CancelSent {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly close: CloseUnwanted,
  ) {}

  async execute(leases: readonly Lease[], command: TxCommand): Promise<Decision> {
    const { commandId } = command;
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    const verdict = commandVerdict('cancel', tx);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    if (verdict.kind === 'done') return { commandId, refusal: null };
    const reason = 'cancelled by its client';
    await this.close.execute(leases, 'cancel', [{ tx, reason, end: (copy) => copy.cancelled(reason) }]);
    return { commandId, refusal: null };
  }
}
