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
    // Neither waits for the other, nor stops it.
    const looks = await Promise.allSettled([this.holds.execute(chainId), this.authorizations.execute(chainId)]);
    const errors = looks.flatMap((look): unknown[] => (look.status === 'rejected' ? [look.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of 2 looks failed`);
  }
}
