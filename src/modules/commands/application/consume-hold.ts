import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import { answeredWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { Chains, type SentTransaction } from '../../chain/index.js';
import { ManagedTxRepository } from '../../ledger/index.js';
import type { SlotRef } from '../../signers/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import { type CommandInput, SubmitCommand, type SubmittedCommand } from './submit-command.js';

/** A client waits for the answer. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Stores that an outside sender has sent a transaction with its nonce. A hash that no endpoint shows is accepted: it may be on its way, or private. Its
 * bytes are made anew from what an endpoint shows, so nobody is believed that it is another one's.
 */
@Injectable()
export class ConsumeHold {
  constructor(
    private readonly chains: Chains,
    private readonly submit: SubmitCommand,
    private readonly repository: ManagedTxRepository,
    private readonly pauses: Pauses,
  ) {}

  /** @throws Conflict `other_transaction` when the hash is known, and is not one of this signer with this nonce */
  async execute(slot: SlotRef, input: CommandInput & { readonly txHash: Hash }): Promise<SubmittedCommand> {
    const sent = (await this.isDecided(slot, input)) ? null : await this.known(slot, input.txHash);
    const { signer, nonce } = slot;
    if (sent && (sent.account !== signer.address || sent.nonce !== nonce))
      throw new Conflict(
        'other_transaction',
        `the transaction has the sender ${sent.account} and the nonce ${sent.nonce}`,
        'name the transaction that was sent with the nonce of the hold',
        { txId: input.txId, txHash: input.txHash },
      );
    return this.submit.execute(input);
  }

  /** Whether it is answered, or refused, whatever the chain says. */
  private async isDecided({ signer }: SlotRef, input: CommandInput & { readonly txHash: Hash }): Promise<boolean> {
    if (await this.submit.isStored(signer, input)) return true;
    const [tx] = await this.repository.byIds([input.txId]);
    return tx === undefined || commandVerdict('consume', tx, input.txHash).kind !== 'by_owner';
  }

  private async known({ signer }: SlotRef, txHash: Hash): Promise<SentTransaction | null> {
    try {
      const question = this.chains.get(signer.chainId).transactions([txHash]);
      const [sent = null] = (await answeredWithin(this.pauses.pause, LONGEST_WAIT_MS, question)) ?? [];
      return sent;
    } catch (error) {
      // No endpoint answers, as when none does in time: it is as with a hash that none of them knows.
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}
