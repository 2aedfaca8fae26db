import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { NodeConfig } from '../../../config/index.js';
import { realPause } from '../../../platform/scheduling/pause.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { EventBell } from '../../events/index.js';
import { FanOut, type FannedOut } from '../application/fan-out.js';
import { DeliveryScheduler } from './delivery-scheduler.js';

const POLL_MS = 1_000;
/** While an older database transaction holds back what comes next. It doubles up to the poll interval. */
const FIRST_WAIT_MS = 20;

/** When: after news of events, and once a second. Only once a second while nobody subscribes, or another node is at it. */
@Injectable()
export class FanOutScheduler implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ticker: Ticker;
  private readonly unlisten: () => void;
  private isHeard = false;
  private isStopped = false;

  constructor(
    private readonly fanOut: FanOut,
    private readonly bell: EventBell,
    private readonly deliveries: DeliveryScheduler,
    private readonly role: NodeConfig,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({ name: 'webhook-fan-out', intervalMs: POLL_MS, run: () => this.run() });
    this.unlisten = bell.listen(() => {
      if (this.isHeard) this.ticker.kick();
    });
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    this.unlisten();
    await this.ticker.stop();
  }

  private async run(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    for (;;) {
      const done = await this.page();
      if (this.isStopped || done.isIdle) return;
      if (done.hasMore) continue;
      if (!done.isHeldBack || waitMs >= POLL_MS) return;
      await realPause(waitMs);
      waitMs = done.deliveries > 0 ? FIRST_WAIT_MS : waitMs * 2;
    }
  }

  /** Wakes those who deliver, on this node and on others. */
  private async page(): Promise<FannedOut> {
    const done = await this.fanOut.execute();
    this.isHeard = !done.isIdle;
    if (done.deliveries > 0) {
      this.deliveries.wake();
      this.bell.ring();
    }
    return done;
  }
}
