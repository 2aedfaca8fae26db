import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import { LostCommitsRepository } from '../../ledger/index.js';

/** A waiting tx of this signer may have been sent. Nothing was written. */
export class SignerInDoubt extends Unavailable {
  constructor(signer: SignerId) {
    super(
      'signer_in_doubt',
      'the database may have lost what this signer sent, so the transaction may have been sent',
      'send the request again: Lockstep is looking for what this signer sent',
      { signer: signerKey(signer) },
    );
  }
}

/**
 * The signers that were not reconciled since the database may have lost commits (docs/decisions/0012-lost-commits.md). Their txs without a
 * nonce may have been sent all the same, so nobody may end or change them before: the payload may be executed.
 */
@Injectable()
export class SignersInDoubt {
  constructor(
    private readonly watch: DatabaseWatch,
    private readonly lost: LostCommitsRepository,
  ) {}

  /** Call before the database transaction: finds out whether commits may be lost since the last look. */
  async look(): Promise<void> {
    await this.watch.checkIfReconnected();
  }

  /**
   * Call in the database transaction that changes waiting txs, when they are locked.
   * @returns the keys of the signers in doubt; null when a connection was made since the last look, and nobody knows: look again
   */
  async among(tx: Tx, signers: readonly SignerId[]): Promise<ReadonlySet<string> | null> {
    if (this.watch.hasReconnected) return null;
    return new Set((await this.lost.suspects(tx, signers)).map(signerKey));
  }
}
