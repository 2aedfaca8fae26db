import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { TendAuthorizations } from '../application/tend-authorizations.js';
import { TendHolds } from '../application/tend-holds.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second what became of the nonces that signers keep for others: for outside senders, and for authorizations. */
@Injectable()
export class HoldScheduler extends ChainScheduler {
  constructor(
    private readonly holds: TendHolds,
    private readonly authorizations: TendAuthorizations,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'holds', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    // One of the two that fails does not stop the other.
    try {
      await this.holds.execute(chainId);
    } finally {
      await this.authorizations.execute(chainId);
    }
  }
}
