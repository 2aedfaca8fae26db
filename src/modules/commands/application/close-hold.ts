import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../kernel/audit-log.js';
import type { Caller } from '../../../kernel/caller.js';
import { NotFound } from '../../../kernel/errors.js';
import { canonicalJson } from '../../../kernel/json.js';
import { sameSigner, signerKey } from '../../../kernel/signer-id.js';
import { hashRequest, ManagedTxRepository } from '../../ledger/index.js';
import { Custody, ExternalSigner, type SlotRef } from '../../signers/index.js';
import { assertNonce } from './assert-nonce.js';
import { type CommandInput, SubmitCommand, type SubmittedCommand } from './submit-command.js';

export interface CloseInput {
  readonly sender: Caller;
  readonly requestId: string | null;
  readonly holdId: string;
  /** What the outside sender says of its transaction. */
  readonly reason: string;
}

/**
 * Stores that an operator closes a hold whose transaction nobody sees, whosever it is: a no-op competes for its nonce, and the chain decides. The hold is
 * named by its id, so that what comes late never meets the next hold of the nonce.
 */
@Injectable()
export class CloseHold {
  constructor(
    private readonly txs: ManagedTxRepository,
    private readonly submit: SubmitCommand,
    private readonly audit: AuditLog,
    private readonly custody: Custody,
  ) {}

  /** @throws Unprocessable `external_signer`; NotFound `hold_not_found`; Conflict `other_nonce`, and what {@link SubmitCommand} throws */
  async execute(
    { signer, nonce }: SlotRef,
    { sender, requestId, holdId, reason }: CloseInput,
  ): Promise<SubmittedCommand> {
    const [hold] = await this.txs.byIds([holdId]);
    if (!hold?.isHold || !sameSigner(hold.signer, signer))
      throw new NotFound(
        'hold_not_found',
        'the signer has no such hold',
        'GET …/nonces shows which hold has each nonce',
        { ...signer },
      );
    const { id: txId, state, progress } = hold;
    assertNonce({ txId, state, nonce: progress.nonce }, nonce);
    const entry = {
      by: sender,
      action: 'closeHold',
      object: `signer:${signerKey(signer)}`,
      detail: { nonce: nonce.toString(), txId, reason },
    };
    const command: CommandInput = {
      txId,
      sender,
      kind: 'close',
      requestId,
      requestHash: hashRequest(canonicalJson({ kind: 'close', txId, reason })),
      fees: null,
      request: null,
      inSameCommit: (tx) => this.audit.record(entry, tx),
    };
    // One that was stored before the key went is answered as before.
    if (this.custody.isExternal(signer) && !(await this.submit.isStored(signer, command)))
      throw new ExternalSigner(signer);
    return this.submit.execute(command);
  }
}
