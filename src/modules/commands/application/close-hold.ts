import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../kernel/audit-log.js';
import type { Caller } from '../../../kernel/caller.js';
import { NotFound } from '../../../kernel/errors.js';
import { canonicalJson } from '../../../kernel/json.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { CommandedTxs, hashRequest } from '../../ledger/index.js';
import type { SlotRef } from '../../signers/index.js';
import { SubmitCommand, type SubmittedCommand } from './submit-command.js';

export interface CloseInput {
  readonly sender: Caller;
  readonly requestId: string | null;
  /** What the outside sender says of its transaction. */
  readonly reason: string;
}

/**
 * Stores that an operator closes a hold whose transaction nobody sees, whosever it is: a no-op competes for its nonce, and the chain decides. The hold is
 * named by its nonce, because operators do not know the ids of other accounts.
 */
@Injectable()
export class CloseHold {
  constructor(
    private readonly txs: CommandedTxs,
    private readonly submit: SubmitCommand,
    private readonly audit: AuditLog,
  ) {}

  /** @throws NotFound `hold_not_found`, and what {@link SubmitCommand} throws */
  async execute({ signer, nonce }: SlotRef, { sender, requestId, reason }: CloseInput): Promise<SubmittedCommand> {
    const txId = await this.txs.holdAt({ signer, nonce });
    if (txId === null)
      throw new NotFound(
        'hold_not_found',
        `no outside sender has the nonce ${nonce}`,
        'GET …/nonces shows who has each nonce',
        { ...signer },
      );
    const entry = {
      by: sender,
      action: 'closeHold',
      object: `signer:${signerKey(signer)}`,
      detail: { nonce: nonce.toString(), txId, reason },
    };
    return this.submit.execute({
      txId,
      sender,
      kind: 'close',
      requestId,
      requestHash: hashRequest(canonicalJson({ kind: 'close', txId, reason })),
      fees: null,
      request: null,
      inSameCommit: (tx) => this.audit.record(entry, tx),
    });
  }
}
