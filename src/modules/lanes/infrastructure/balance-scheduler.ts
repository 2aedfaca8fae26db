import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { Chains, ChainScheduler, HeadTracker } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { LookForDelegations } from '../application/look-for-delegations.js';
import { WatchBalances } from '../application/watch-balances.js';

const CHECK_EVERY_MS = 10_000;

/** Measures balances, and looks for delegations, every few seconds when the chain has a new block: without one nothing has changed. */
@Injectable()
export class BalanceScheduler extends ChainScheduler {
  private readonly measuredAt = new Map<ChainId, number>();

  constructor(
    private readonly watch: WatchBalances,
    private readonly delegations: LookForDelegations,
    private readonly chains: Chains,
    private readonly heads: HeadTracker,
    private readonly leases: LeaseManager,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'balances', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    const tip = this.heads.tip(chainId);
    if (tip === null || tip === this.measuredAt.get(chainId)) return;
    const chain = this.chains.get(chainId);
    const busy = await this.watch.execute(
      chain,
      this.leases.heldOn(chainId).map(({ signer }) => signer),
    );
    await this.delegations.execute(chain, busy);
    this.measuredAt.set(chainId, tip);
  }
}
