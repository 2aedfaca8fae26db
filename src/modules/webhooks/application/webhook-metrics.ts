import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { endedWithin, realPause } from '../../../platform/scheduling/pause.js';
import { RecentAnswer } from '../../../platform/scheduling/recent-answer.js';
import type { DeliveryStatus } from '../domain/delivery.js';
import { type Backlog, DeliveryQueue } from '../domain/delivery-queue.js';

/** One read serves the gauges of a scrape. */
const READ_TTL_MS = 1_000;
/** How long a scrape waits for the database. The read goes on, and the next scrape shows its result. */
const SCRAPE_WAIT_MS = 1_000;
const OUTCOME = { waiting: 'failed', delivered: 'delivered', dead: 'dead' } as const;

/** Labels have ids of endpoints, of which there are few. The backlog is read when Prometheus scrapes. */
@Injectable()
export class WebhookMetrics {
  private readonly backlog: RecentAnswer<readonly Backlog[]>;
  private readonly counted = new Set<string>();
  /** What was read last; null after a failure. */
  private known: readonly Backlog[] | null = null;

  constructor(
    private readonly metrics: Metrics,
    queue: DeliveryQueue,
    clock: Clock,
  ) {
    this.backlog = new RecentAnswer(() => queue.backlog(), READ_TTL_MS, clock);
    metrics.onScrape('webhook_deliveries_total', () => this.forgetDeleted());
    this.showBacklog('webhook_backlog', ({ waiting }) => waiting);
    this.showBacklog('webhook_oldest_seconds', ({ ageSeconds }) => ageSeconds);
    this.showBacklog('webhook_failing', ({ isFailing }) => Number(isFailing));
  }

  /** One post and what became of its delivery. */
  recorded(endpoint: string, status: DeliveryStatus): void {
    this.counted.add(endpoint);
    this.metrics.count('webhook_deliveries_total', 1, { endpoint, outcome: OUTCOME[status] });
  }

  posted(seconds: number): void {
    this.metrics.observe('webhook_seconds', seconds);
  }

  /** @returns whether the database answered in time */
  private read(): Promise<boolean> {
    const read = this.backlog.get().catch(() => null);
    const stored = read.then((backlog) => (this.known = backlog));
    return endedWithin(realPause, SCRAPE_WAIT_MS, stored);
  }

  /** Without the database the values are left out. */
  private showBacklog(
    name: 'webhook_backlog' | 'webhook_oldest_seconds' | 'webhook_failing',
    valueOf: (one: Backlog) => number,
  ): void {
    this.metrics.onScrape(name, async () => {
      await this.read();
      this.metrics.clear(name);
      for (const one of this.known ?? []) this.metrics.set(name, valueOf(one), { endpoint: one.endpointId });
    });
  }

  /** The backlog has every endpoint that is not deleted. */
  private async forgetDeleted(): Promise<void> {
    // What was known before does not have younger endpoints.
    if (!(await this.read()) || this.known === null) return;
    const there = new Set(this.known.map(({ endpointId }) => endpointId));
    for (const endpoint of [...this.counted].filter((one) => !there.has(one))) {
      for (const outcome of Object.values(OUTCOME))
        this.metrics.forget('webhook_deliveries_total', { endpoint, outcome });
      this.counted.delete(endpoint);
    }
  }
}
