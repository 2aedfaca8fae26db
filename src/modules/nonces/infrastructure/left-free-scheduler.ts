import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { FillLeftFree } from '../application/fill-left-free.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second for signers that are held because failed transactions left nonces free. */
@Injectable()
export class LeftFreeScheduler extends ChainScheduler {
  constructor(
    private readonly leftFree: FillLeftFree,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'left-free', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.leftFree.execute(chainId);
  }
}
