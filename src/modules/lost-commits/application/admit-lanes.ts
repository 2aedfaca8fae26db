import { Injectable } from '@nestjs/common';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { HeldSigners } from './held-signers.js';
import { LostCommitsMetrics } from './lost-commits-metrics.js';
import { ReconcileLanes } from './reconcile-lanes.js';

/**
 * Lets a lane begin only when the database knows all that is out for its signer. A database may lose commits that it had answered (a
 * standby is promoted that had not received them), and the next owner would give out nonces, and send payloads, that are out already.
 */
@Injectable()
export class AdmitLanes {
  constructor(
    private readonly watch: DatabaseWatch,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly held: HeldSigners,
    private readonly reconcile: ReconcileLanes,
    private readonly metrics: LostCommitsMetrics,
  ) {
    watch.onNewEpoch((evidence) => {
      metrics.lost(evidence);
      // What lanes believe to know is of a database that is gone: each begins anew, and is looked at here.
      memory.forgetAll();
    });
  }

  /** @returns those whose lanes may act */
  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<readonly Lease[]> {
    await this.watch.lookIfReconnected();
    const taken = leases.filter((lease) => this.memory.needsRecovery(lease));
    if (taken.length === 0) return leases;
    await this.reconcile.execute(
      chain,
      taken.filter(({ signer }) => this.held.isDue(signer)),
    );
    this.held.keepOnly((signer) => this.leases.held(signer) !== null);
    this.metrics.held(this.held.count);
    return leases.filter(({ signer }) => !this.held.has(signer));
  }
}
