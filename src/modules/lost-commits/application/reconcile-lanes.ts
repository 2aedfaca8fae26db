import { Injectable } from '@nestjs/common';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Lease, LeaseLost } from '../../signers/index.js';
import { AdoptSent } from './adopt-sent.js';
import { CommittedCursors } from './committed-cursors.js';
import { FindSent } from './find-sent.js';
import type { Findings } from './findings.js';
import { HeldSigners } from './held-signers.js';
import { HoldBack } from './hold-back.js';

/** Adds unknown sent transactions to the database, signer by signer; holds signers whose sent transactions are not all known yet. */
@Injectable()
export class ReconcileLanes {
  constructor(
    private readonly find: FindSent,
    private readonly adopt: AdoptSent,
    private readonly held: HeldSigners,
    private readonly holdBack: HoldBack,
    private readonly cursors: CommittedCursors,
    private readonly log: Log,
  ) {}

  /**
   * @param anyway an operator vouches that the signers sent nothing else
   * @returns the findings of each signer that was searched
   */
  async execute(chain: ChainConnector, leases: readonly Lease[], anyway = false): Promise<Findings[]> {
    const found = await this.find.execute(
      chain,
      leases.map(({ signer }) => signer),
    );
    const bySigner = new Map(found.map((findings) => [signerKey(findings.outlook.signer), findings]));
    for (const lease of leases) {
      const findings = bySigner.get(signerKey(lease.signer));
      // Keeps the committed cursor of the signer, because it was not searched: `goOn` would forget it.
      if (findings === undefined) this.held.release(lease.signer);
      else await this.reconcile(lease, findings, anyway);
    }
    return found;
  }

  private async reconcile(lease: Lease, findings: Findings, anyway: boolean): Promise<void> {
    const wasHeld = this.held.has(lease.signer);
    if (anyway) this.held.vouch(findings);
    else if (!this.held.judge(findings)) {
      if (!wasHeld) await this.holdBack.execute(lease, findings);
      return;
    }
    try {
      if (await this.adopt.execute(lease, findings)) this.goOn(lease.signer);
      else this.held.keep(lease.signer);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // A signer whose findings cannot be stored must not stop the others of its step.
      this.held.keep(lease.signer);
      this.log.error('failed to store sent transactions of a signer', { signer: signerKey(lease.signer), error });
    }
  }

  private goOn(signer: SignerId): void {
    this.held.release(signer);
    this.cursors.forget(signer);
  }
}
