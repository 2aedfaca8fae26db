import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { messageOf } from '../../../kernel/errors.js';
import { Log } from '../../../platform/logging/log.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { EventSink } from '../../../sinks/event-sink.js';
import { EventBell } from '../../events/index.js';
import { FeedClaim } from '../application/feed-claim.js';
import { FeedSink } from '../application/feed-sink.js';
import { HoldClaim } from '../application/hold-claim.js';

/** A fifth of how long a claim lasts. */
const CLAIM_EVERY_MS = 2_000;
const FEED_EVERY_MS = 1_000;
/** Until a database transaction that holds events back has ended, mostly. */
const SOON_MS = 50;

/** When: publishes after a bell and every second. */
@Injectable()
export class BrokerFeeder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly claimTicker: Ticker;
  private readonly feedTicker: Ticker;
  private stopListening: () => void = () => undefined;
  private soon: NodeJS.Timeout | null = null;

  constructor(
    private readonly hold: HoldClaim,
    private readonly feed: FeedSink,
    private readonly claim: FeedClaim,
    private readonly sink: EventSink,
    private readonly bell: EventBell,
    private readonly log: Log,
    tickers: Tickers,
  ) {
    const create = (name: string, intervalMs: number, run: () => Promise<void>): Ticker =>
      tickers.create({ name, intervalMs, run });
    this.claimTicker = create('broker-claim', CLAIM_EVERY_MS, () => this.holdClaim());
    this.feedTicker = create('broker-feed', FEED_EVERY_MS, () => this.feedOnce());
  }

  onApplicationBootstrap(): void {
    this.claimTicker.start();
    this.feedTicker.start();
    this.stopListening = this.bell.listen(() => this.wake());
  }

  /** The claim ends last, so that another node begins when this one publishes no more. */
  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    if (this.soon !== null) clearTimeout(this.soon);
    await Promise.all([this.feedTicker.stop(), this.claimTicker.stop()]);
    await this.sink.close();
    await this.claim.release().catch((error: unknown) => {
      this.log.warn('failed to release the claim on the broker, it expires', { error: messageOf(error) });
    });
  }

  private async holdClaim(): Promise<void> {
    const had = this.claim.place !== null;
    await this.hold.execute();
    if (!had) this.wake();
  }

  private async feedOnce(): Promise<void> {
    const next = await this.feed.execute();
    if (next === 'now') this.wake();
    if (next === 'soon') this.soon = setTimeout(() => this.wake(), SOON_MS).unref();
  }

  private wake(): void {
    if (this.claim.place !== null) this.feedTicker.kick();
  }
}
