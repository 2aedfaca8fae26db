import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type AgreedCount, type ChainConnector, Chains } from '../../chain/index.js';
import { type PolicySet, SignerPolicies } from '../../policies/index.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import { AuthorizationStore, type Grant, type GrantStage, LeasedWork } from '../../ledger/index.js';
import { AuthorizationTurns } from './authorization-turns.js';
import { EndAuthorization, pauseMs } from './end-authorization.js';
import { GrantAuthorization } from './grant-authorization.js';

const ENDING: ReadonlySet<GrantStage> = new Set(['overdue', 'ended']);

type Counts = ReadonlyMap<string, AgreedCount | null>;

/**
 * Brings the authorizations forward that signers of this node give for txs of others, on their workers, between their lane steps. The chain is
 * asked before that: others share the workers.
 */
@Injectable()
export class TendAuthorizations {
  constructor(
    private readonly leases: LeaseManager,
    private readonly store: AuthorizationStore,
    private readonly turns: AuthorizationTurns,
    private readonly work: LeasedWork,
    private readonly grants: GrantAuthorization,
    private readonly ends: EndAuthorization,
    private readonly chains: Chains,
    private readonly policies: SignerPolicies,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    const open = signers.length === 0 ? [] : await this.store.open(chainId, signers);
    const due = this.turns.begin(chainId, open);
    if (due.length === 0) return;
    const counts = await this.counts(chainId, due.filter(needsCount));
    await this.work.run(chainId, due, (leases, share) => this.share(chainId, leases, share, counts));
  }

  /** By the address of the signer. */
  private async counts(chainId: ChainId, asking: readonly Grant[]): Promise<Counts> {
    const addresses = [...new Set(asking.map(({ signer }) => signer.address))];
    if (addresses.length === 0) return new Map();
    const counts = await this.chains.get(chainId).agreedCounts(addresses, 'latest');
    return new Map(addresses.map((address, index) => [address, counts[index] ?? null]));
  }

  private async share(
    chainId: ChainId,
    leases: readonly Lease[],
    share: readonly Grant[],
    counts: Counts,
  ): Promise<void> {
    for (const grant of share) {
      const lease = leases.find(({ signer }) => signer.address === grant.signer.address);
      const agreed = needsCount(grant) ? (counts.get(grant.signer.address) ?? null) : null;
      if (lease) await this.step(this.chains.get(chainId), lease, grant, agreed);
    }
  }

  /** The next step of one authorization. @param agreed the count of its signer on the chain; null when it is not known */
  private async step(chain: ChainConnector, lease: Lease, grant: Grant, agreed: AgreedCount | null): Promise<void> {
    switch (grant.stage) {
      case 'wanted': {
        // Else its payloads would be held back for what it never signs.
        const policies = this.policies.present;
        const isAllowed = this.grants.isSigning(grant) && mayAuthorize(policies, grant);
        if (isAllowed && (await this.grants.execute(chain, lease, grant, agreed, policies.mark)))
          this.turns.signed(grant);
        else if (!isAllowed || this.turns.isOver(grant)) {
          await this.store.postpone(grant, pauseMs(grant));
          this.turns.gaveUp(grant.signer);
        }
        return;
      }
      case 'mined':
        this.turns.wasMined(grant);
        return;
      case 'in_the_way':
        return this.ends.endTime(lease, grant);
      case 'open':
        return;
      case 'overdue':
      case 'ended':
        if (await this.ends.execute(lease, grant, agreed)) this.turns.ended(grant);
    }
  }
}

/** Intake asks the same, but the policy may be stricter now. */
function mayAuthorize(policies: PolicySet, { signer }: Grant): boolean {
  return policies.of(signer).every((policy) => policy.authorizations || policy.dryRun);
}

/** It can be signed, or its nonce may be free. */
function needsCount({ stage, isReady, nonce }: Grant): boolean {
  return stage === 'wanted' ? isReady : nonce !== null && ENDING.has(stage);
}
