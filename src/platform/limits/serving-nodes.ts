import { Injectable } from '@nestjs/common';
import type { Rate } from './token-buckets.js';

/** What is saved up: what may come in so many seconds may come at once. */
export const BURST_SECONDS = 5;

/**
 * How many nodes have an API, as of the last heartbeats. Each allows its share of what an account may do at all of them. A node that comes counts at
 * once, and one that has gone when two heartbeats in a row miss it, so that one late heartbeat widens no limit.
 */
@Injectable()
export class ServingNodes {
  private now = 1;
  private previous = 1;

  /** @param count with this node */
  seen(count: number): void {
    this.previous = this.now;
    this.now = Math.max(1, count);
  }

  /** Of a limit of things at the same time. One at least: which node a client reaches is chance. */
  shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / this.count));
  }

  rateOf(perSecond: number): Rate {
    const share = perSecond / this.count;
    return { perSecond: share, most: Math.max(1, share * BURST_SECONDS) };
  }

  private get count(): number {
    return Math.max(this.now, this.previous);
  }
}
