import { Injectable } from '@nestjs/common';
import { chanceOf, jittered } from '../../../../kernel/backoff.js';
import { signerKey } from '../../../../kernel/signer-id.js';
import { groupBy } from '../../../../kernel/group-by.js';
import { Log } from '../../../../platform/logging/log.js';
import { LeaseLost, LeaseManager } from '../../../signers/index.js';
import type { ManagedTx } from '../../domain/managed-tx.js';
import type { Postponement } from '../../domain/tx-writer.js';
import { WriteChanges } from './write-changes.js';

const PAUSE_MS = 5_000;

/** Moves the due time of txs with which nothing could be done, so that they do not fill the next page again (docs/invariants.md, I15). */
@Injectable()
export class PostponeDue {
  constructor(
    private readonly leases: LeaseManager,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** Signer by signer: who has lost a lease holds up nobody. What cannot be written is due as before. */
  async execute(timer: Postponement['timer'], txs: readonly ManagedTx[]): Promise<void> {
    for (const [signer, own] of groupBy(txs, (tx) => signerKey(tx.signer))) {
      const lease = own[0] && this.leases.held(own[0].signer);
      if (!lease) continue;
      const postponed = own.map((tx) => ({ tx, inMs: jittered(PAUSE_MS, chanceOf(tx.id)) }));
      try {
        await this.write.execute([lease], 'postpone', { postponed: { timer, txs: postponed } });
      } catch (error) {
        if (error instanceof LeaseLost) this.leases.lost(error);
        else this.log.warn('failed to postpone what is due', { signer, error });
      }
    }
  }
}
