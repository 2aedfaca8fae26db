import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import type { SlotRef } from '../../signers/index.js';

/** The database does not have a commit of this process. Nothing was written. */
export class CommitsLost extends Unavailable {
  constructor(signer: SignerId, committed: Nonce, found: Nonce) {
    super(
      'commits_lost',
      'the database has lost commits',
      'wait: Lockstep finds the transactions that this signer has sent, and then continues',
      { signer: signerKey(signer), committed: committed.toString(), found: found.toString() },
    );
  }
}

/**
 * The cursors that this process has committed. A cursor never goes back, so a lower one shows that the database lost commits: its next
 * nonces may be in use already.
 */
@Injectable()
export class CommittedCursors {
  private readonly cursors = new Map<string, Nonce>();

  constructor(private readonly watch: DatabaseWatch) {}

  /**
   * @param found the cursors that the database has now; a signer without a cursor is missing
   * @throws CommitsLost
   */
  expect(signers: readonly SignerId[], found: ReadonlyMap<string, Nonce>): void {
    for (const signer of signers) {
      const committed = this.cursors.get(signerKey(signer)) ?? 0n;
      const cursor = found.get(signerKey(signer)) ?? 0n;
      if (cursor >= committed) continue;
      this.watch.report('cursor_went_backwards');
      throw new CommitsLost(signer, committed, cursor);
    }
  }

  /** Call after a commit that took these slots. */
  committed(slots: readonly SlotRef[]): void {
    for (const { signer, nonce } of slots) {
      const key = signerKey(signer);
      this.cursors.set(key, maxOf(this.cursors.get(key) ?? 0n, nonce + 1n));
    }
  }

  /** Call when the sent transactions of the signer are known again: the cursor of the database is right from then on. */
  forget(signer: SignerId): void {
    this.cursors.delete(signerKey(signer));
  }
}
