import { Injectable } from '@nestjs/common';
import { Tickers } from '../../../platform/scheduling/tickers.js';

/** Knows whether this node is shutting down: readiness fails from the start of a shutdown. */
@Injectable()
export class Drain {
  private started = false;

  constructor(tickers: Tickers) {
    tickers.onShutdown(() => (this.started = true));
  }

  get isDraining(): boolean {
    return this.started;
  }
}
