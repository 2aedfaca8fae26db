import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import { LeasedWork } from '../../transactions/index.js';
import { AuthorizationStore } from '../domain/authorization-store.js';
import type { Grant } from '../domain/grant.js';
import { AuthorizationSteps } from './authorization-steps.js';
import { AuthorizationTurns } from './authorization-turns.js';

/** Brings the authorizations forward that signers of this node give for txs of others, on their workers, between their lane steps. */
@Injectable()
export class TendAuthorizations {
  constructor(
    private readonly leases: LeaseManager,
    private readonly store: AuthorizationStore,
    private readonly turns: AuthorizationTurns,
    private readonly work: LeasedWork,
    private readonly steps: AuthorizationSteps,
    private readonly chains: Chains,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const due = this.turns.begin(await this.store.open(chainId, signers));
    await this.work.run(chainId, due, (leases, share) => this.share(chainId, leases, share));
  }

  private async share(chainId: ChainId, leases: readonly Lease[], share: readonly Grant[]): Promise<void> {
    for (const grant of share) {
      const lease = leases.find(({ signer }) => signer.address === grant.signer.address);
      if (lease) await this.steps.execute(this.chains.get(chainId), lease, grant);
    }
  }
}
