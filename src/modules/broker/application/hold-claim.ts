import { Injectable } from '@nestjs/common';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { BrokerConfig } from '../../../sinks/event-sink.js';
import { EventReader, LOG_BEGINNING } from '../../events/index.js';
import { FeedCursor } from '../domain/feed-cursor.js';
import { FeedClaim } from './feed-claim.js';
import { FeedHealth } from './feed-health.js';

/** Takes or renews the claim of this node, and measures what the broker does not have yet. */
@Injectable()
export class HoldClaim {
  private hasBegun = false;

  constructor(
    private readonly claim: FeedClaim,
    private readonly health: FeedHealth,
    private readonly cursor: FeedCursor,
    private readonly reader: EventReader,
    private readonly config: BrokerConfig,
    private readonly metrics: Metrics,
  ) {}

  async execute(): Promise<void> {
    await this.begin();
    // Another node may reach a broker that this one does not reach.
    if (!this.health.isResting) await this.claim.take();
    const { rows, seconds } = await this.cursor.lag();
    this.metrics.set('broker_lag_events', rows);
    this.metrics.set('broker_behind_seconds', seconds);
  }

  private async begin(): Promise<void> {
    if (this.hasBegun) return;
    if (!(await this.cursor.hasBegun()))
      await this.cursor.begin(this.config.startAt === 'end' ? await this.reader.end() : LOG_BEGINNING);
    this.hasBegun = true;
  }
}
