import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import { Chains, type SentTransaction } from '../../chain/index.js';
import type { SlotRef } from '../../signers/index.js';
import { type CommandInput, SubmitCommand, type SubmittedCommand } from './submit-command.js';

/**
 * Stores that an outside sender has sent a transaction with its nonce. A hash that no endpoint shows is accepted: it may be on its way, or private. Its
 * bytes are made anew from what an endpoint shows, so nobody is believed that it is another one's.
 */
@Injectable()
export class ConsumeHold {
  constructor(
    private readonly chains: Chains,
    private readonly submit: SubmitCommand,
  ) {}

  /** @throws Conflict `other_transaction` when the hash is known, and is not one of this signer with this nonce */
  async execute(slot: SlotRef, input: CommandInput & { readonly txHash: Hash }): Promise<SubmittedCommand> {
    const sent = await this.known(slot, input.txHash);
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

  private async known({ signer }: SlotRef, txHash: Hash): Promise<SentTransaction | null> {
    try {
      const [sent = null] = await this.chains.get(signer.chainId).transactions([txHash]);
      return sent;
    } catch (error) {
      // No endpoint answers: it is as with a hash that none of them knows.
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}
