import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { NodeConfig } from '../../../config/index.js';
import { realPause } from '../../../platform/scheduling/pause.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { EventBell } from '../../events/index.js';
import { DeliverDue } from '../application/deliver-due.js';
import { RecordDeliveries } from '../application/record-deliveries.js';

const POLL_MS = 1_000;
/** A shutdown waits so long for answers; what is not recorded then is sent again by another node when its claim has ended. */
const FINISH_WITHIN_MS = 5_000;

/** When: after a fan-out on any node, after results were stored, while there is room for more, and once a second for retries. */
@Injectable()
export class DeliveryScheduler implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ticker: Ticker;
  private readonly unlisten: () => void;

  constructor(
    private readonly deliveries: DeliverDue,
    results: RecordDeliveries,
    bell: EventBell,
    private readonly role: NodeConfig,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({
      name: 'webhook-deliveries',
      intervalMs: POLL_MS,
      run: async () => void (await deliveries.execute()),
    });
    this.unlisten = bell.listen(() => this.wake());
    results.whenRecorded(() => this.wake());
    deliveries.whenRoom(() => this.wake());
  }

  wake(): void {
    this.ticker.kick();
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.unlisten();
    await this.ticker.stop();
    const stop = new AbortController();
    const late = realPause(FINISH_WITHIN_MS, stop.signal).catch(() => undefined);
    await Promise.race([this.deliveries.idle(), late]);
    stop.abort();
  }
}
