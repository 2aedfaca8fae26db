import { Injectable } from '@nestjs/common';
import { BrokerConfig } from '../../../config/lockstep-config.js';
import { EventReader, LOG_BEGINNING } from '../../events/index.js';
import { FeedCursor } from '../domain/feed-cursor.js';
import { BrokerMetrics } from './broker-metrics.js';
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
    private readonly metrics: BrokerMetrics,
  ) {}

  async execute(): Promise<void> {
    await this.begin();
    // Another node may reach a broker that this one does not reach.
    if (!this.health.isResting) await this.claim.take();
    this.metrics.lag(await this.cursor.lag());
  }

  private async begin(): Promise<void> {
    if (this.hasBegun) return;
    if (!(await this.cursor.hasBegun()))
      await this.cursor.begin(this.config.startAt === 'end' ? await this.reader.end() : LOG_BEGINNING);
    this.hasBegun = true;
  }
}
