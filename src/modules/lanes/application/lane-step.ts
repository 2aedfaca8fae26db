import { Injectable } from '@nestjs/common';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { isolateFailures } from '../../../platform/scheduling/isolate-failures.js';
import { Chains } from '../../chain/index.js';
import { LeaseLost, LeaseManager } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { AdvanceLanes } from './advance-lanes.js';

/**
 * One step of the lanes of some signers of one chain (docs/architecture.md, Lane step). Signers in one step share database transactions and
 * round trips, but not failures (docs/invariants.md, I14). Must never run twice at once for a signer.
 */
@Injectable()
export class LaneStep {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly lanes: AdvanceLanes,
    private readonly log: Log,
  ) {}

  /**
   * @param onFailed called with each signer that failed while others succeeded
   * @returns the signers with more waiting txs than this step had room for
   * @throws when no signer succeeded
   */
  async execute(
    chainId: number,
    signers: readonly SignerId[],
    onFailed: (signer: SignerId) => void = () => undefined,
  ): Promise<SignerId[]> {
    const more: SignerId[] = [];
    const failures = await isolateFailures(signers, async (some) => {
      more.push(...(await this.together(chainId, some)));
    });
    for (const { item, error } of failures) {
      this.log.error('lane step failed', { signer: signerKey(item), error });
      onFailed(item);
    }
    return more;
  }

  private async together(chainId: number, signers: readonly SignerId[]): Promise<SignerId[]> {
    const leases = await this.leases.acquireOrRenew(signers);
    if (leases.length === 0) return [];
    try {
      return await this.lanes.execute(this.chains.get(chainId), leases);
    } catch (error) {
      // Memory may differ from the database after a failure: the next step reads the database.
      this.memory.forget(signers);
      if (error instanceof LeaseLost) return this.dropLost(signers, error);
      throw error;
    }
  }

  private dropLost(signers: readonly SignerId[], error: LeaseLost): SignerId[] {
    this.leases.lost(error);
    const lost = new Set(error.leases.map(({ signer }) => signerKey(signer)));
    return signers.filter((signer) => !lost.has(signerKey(signer)));
  }
}
