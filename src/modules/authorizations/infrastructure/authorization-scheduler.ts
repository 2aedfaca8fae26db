import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { TendAuthorizations } from '../application/tend-authorizations.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second for authorizations that signers of this node are to give, or have given. */
@Injectable()
export class AuthorizationScheduler extends ChainScheduler {
  constructor(
    private readonly authorizations: TendAuthorizations,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'authorizations', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    await this.authorizations.execute(chainId);
  }
}
