import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import type { SlotRef } from '../../signers/index.js';

/** The database is older than what this process committed. Nothing was written. */
export class CommitsLost extends Unavailable {
  constructor(signer: SignerId, committed: Nonce, found: Nonce) {
    super(
      'commits_lost',
      'the database has lost commits',
      'wait: what is out is looked for first, and then the signer goes on',
      { signer: signerKey(signer), committed: committed.toString(), found: found.toString() },
    );
  }
}

/**
 * The cursors that this process has seen committed. A cursor never goes back, so one that is lower than before is of a database that
 * lost commits: its next nonces are out already.
 */
@Injectable()
export class CommittedCursors {
  private readonly cursors = new Map<string, Nonce>();

  constructor(private readonly watch: DatabaseWatch) {}

  /**
   * @param found what the database says of these signers; one that it does not know has no cursor there
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

  /** These slots were committed. */
  committed(slots: readonly SlotRef[]): void {
    for (const { signer, nonce } of slots) {
      const key = signerKey(signer);
      this.cursors.set(key, maxOf(this.cursors.get(key) ?? 0n, nonce + 1n));
    }
  }

  /** What is out is known again: the database is right from now on. */
  forget(signer: SignerId): void {
    this.cursors.delete(signerKey(signer));
  }
}
