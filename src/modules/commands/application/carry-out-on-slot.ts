import { Injectable } from '@nestjs/common';
import { CommandedTxs, ManagedTxRepository, WriteChanges } from '../../ledger/index.js';
import { type Lease, leasesFor } from '../../signers/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';
import type { ChainAnswers } from './ask-chain.js';
import { CloseUnwanted, isEnding } from './close-unwanted.js';

/** Carries out what is about a nonce and signs no payload: cancels, and what is said about holds. */
@Injectable()
export class CarryOutOnSlot {
  constructor(
    private readonly unwanted: CloseUnwanted,
    private readonly repository: ManagedTxRepository,
    private readonly txs: CommandedTxs,
    private readonly write: WriteChanges,
  ) {}

  /** @returns null when the chain has to be asked */
  async execute(leases: readonly Lease[], command: TxCommand, said: ChainAnswers): Promise<Decision | null> {
    const { kind, commandId, txHash, ttl } = command;
    if (isEnding(kind)) return this.unwanted.cancel(leases, { ...command, kind }, said);
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    const verdict = commandVerdict(kind, tx, txHash);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    if (verdict.kind === 'done') return { commandId, refusal: null };
    // Only the word of its sender: what the nonce is used by is compared with what is seen (docs/decisions/0043-holds.md).
    if (txHash !== null) {
      // Of one that is closed the no-op is what is sent.
      if (tx.isClosing) return { commandId, refusal: null };
      tx.usedBy(txHash);
      await this.write.execute(leases, 'consume', { txs: [tx] });
    } else if (ttl !== null) {
      await this.write.underFence(leasesFor(leases, [tx.signer]), 'extend', async (fence) => {
        await this.txs.extend(fence, tx, ttl);
        return {};
      });
    }
    return { commandId, refusal: null };
  }
}
