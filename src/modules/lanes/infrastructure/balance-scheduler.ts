import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler, HeadTracker } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { WatchBalances } from '../application/watch-balances.js';

const CHECK_EVERY_MS = 10_000;

/** Measures balances every few seconds, when the chain has a new block: without one no balance has changed. */
@Injectable()
export class BalanceScheduler extends ChainScheduler {
  private readonly measuredAt = new Map<ChainId, number>();

  constructor(
    private readonly watch: WatchBalances,
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
    await this.watch.execute(
      chainId,
      this.leases.heldOn(chainId).map(({ signer }) => signer),
    );
    this.measuredAt.set(chainId, tip);
  }
}
