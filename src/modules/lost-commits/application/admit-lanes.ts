import { Injectable } from '@nestjs/common';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import type { ChainConnector } from '../../chain/index.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import { LaneMemory } from '../../ledger/index.js';
import { HeldSigners } from './held-signers.js';
import { ReconcileLanes } from './reconcile-lanes.js';

/**
 * Lets a lane begin only when the database knows all sent transactions of its signer. A database may lose commits that it had acknowledged,
 * for example when a promoted standby had not received them. The next owner would then use such nonces, and send such payloads, again. Nor does a lane
 * begin while a write of this node whose answer was lost may still happen: it would change what was read before (docs/invariants.md, F6).
 */
@Injectable()
export class AdmitLanes {
  /** How many epochs have begun since this process did. */
  private epochs = 0;

  constructor(
    private readonly watch: DatabaseWatch,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly held: HeldSigners,
    private readonly reconcile: ReconcileLanes,
    private readonly metrics: Metrics,
  ) {
    watch.onNewEpoch((evidence) => {
      metrics.count('database_lost_commits_total', 1, { evidence });
      // The memory of lanes is older than the lost commits: each lane begins again, and is reconciled here first.
      memory.forgetAll();
      this.epochs += 1;
    });
  }

  /** @returns the leases whose lanes may act */
  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<readonly Lease[]> {
    await this.watch.checkIfReconnected();
    const beginning = leases.filter((lease) => this.memory.needsRecovery(lease));
    if (beginning.length === 0) return leases;
    const { epochs } = this;
    const mayBegin = beginning.filter(({ signer }) => !this.held.has(signer) || this.held.isDue(signer));
    const decided = new Set((await this.leases.withoutOpenWrites(mayBegin)).map(({ signer }) => signerKey(signer)));
    const isDecided = ({ signer }: Lease): boolean => decided.has(signerKey(signer));
    await this.reconcile.execute(
      chain,
      beginning.filter((lease) => isDecided(lease) && this.held.isDue(lease.signer)),
    );
    this.held.keepOnly((signer) => this.leases.held(signer) !== null);
    this.metrics.set('signers_held', this.held.count);
    // What was read before a new epoch says nothing about it: no lane of this step acts.
    if (this.epochs !== epochs) return [];
    const admitted = leases.filter(
      (lease) => !this.held.has(lease.signer) && (isDecided(lease) || !beginning.includes(lease)),
    );
    this.memory.admitted(admitted);
    return admitted;
  }
}
