import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeaseConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';
import { LeaseManager } from '../application/lease-manager.js';
import { Custody } from '../domain/custody.js';
import { SignerDirectory } from '../domain/signer-directory.js';

/** When: registers the signers at start, renews all leases every `lease.renewInterval`. */
@Injectable()
export class LeaseHeartbeat implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly ticker: Ticker;

  constructor(
    private readonly leases: LeaseManager,
    private readonly custody: Custody,
    private readonly directory: SignerDirectory,
    config: LeaseConfig,
    log: Log,
  ) {
    this.ticker = new Ticker({
      name: 'lease-heartbeat',
      intervalMs: config.renewInterval,
      run: () => this.leases.renewAll(),
      log,
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.directory.register(this.custody.signers());
    this.ticker.start();
  }

  /** The leases themselves are released by whoever knows that the work in flight has ended. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.ticker.stop();
  }
}
