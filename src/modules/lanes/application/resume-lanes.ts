import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { InFlightLimits, LaneMemory } from '../../transactions/index.js';
import { LookForDelegations } from './look-for-delegations.js';
import { RecoverLane } from './recover-lane.js';
import { ResendLimited } from './resend-limited.js';

/** What a lane does with its txs that hold a nonce, before others get one: recovery, then sends that wait for room in a pool. */
@Injectable()
export class ResumeLanes {
  constructor(
    private readonly recover: RecoverLane,
    private readonly limited: ResendLimited,
    private readonly delegations: LookForDelegations,
    private readonly limits: InFlightLimits,
    private readonly memory: LaneMemory,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<void> {
    const toRecover = leases.filter((lease) => this.memory.needsRecovery(lease));
    // Before the recovery: when a part of it fails, that part marks its lane for recovery again.
    this.memory.recovered(toRecover);
    if (toRecover.length > 0) await this.recover.execute(chain, toRecover);
    const toLook = new Set([...toRecover, ...leases.filter(({ signer }) => this.limits.mustLook(signer))]);
    await this.delegations.execute(
      chain,
      [...toLook].map(({ signer }) => signer),
    );
    await this.limited.execute(chain.chainId, leases);
  }
}
