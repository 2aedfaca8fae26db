import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { messageOf, Unavailable } from '../../../kernel/errors.js';
import { Log } from '../../../platform/logging/log.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { SignerPolicies } from '../application/signer-policies.js';

/** So long intake and prices of a node may follow a policy that was changed elsewhere. No nonce does: what gives it reads the mark in its transaction. */
const POLL_MS = 1_000;

/** Reads the policies of the API at the start, and what is new of them every second: a probe of an index, and no connection of its own. */
@Injectable()
export class PolicyRefresh implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ticker: Ticker;

  constructor(
    private readonly policies: SignerPolicies,
    private readonly log: Log,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({ name: 'policies', intervalMs: POLL_MS, run: () => this.read() });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.read();
    this.ticker.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.ticker.stop();
  }

  /** The database watch tells that the database is away. No change can be stored meanwhile. */
  private async read(): Promise<void> {
    try {
      await this.policies.refresh();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.log.debug('failed to read policies', { error: messageOf(error) });
    }
  }
}
