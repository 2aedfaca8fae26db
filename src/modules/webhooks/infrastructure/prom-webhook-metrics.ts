import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Clock } from '../../../kernel/clock.js';
import { RecentAnswer } from '../../../platform/scheduling/recent-answer.js';
import { WebhookMetrics } from '../application/webhook-metrics.js';
import type { DeliveryStatus } from '../domain/delivery.js';
import { type Backlog, DeliveryQueue } from '../domain/delivery-queue.js';

/** One read serves the gauges of a scrape. */
const READ_TTL_MS = 1_000;
const OUTCOME = { waiting: 'failed', delivered: 'delivered', dead: 'dead' } as const;

/** Labels have ids of endpoints, of which there are few. The backlog is read when Prometheus scrapes. */
@Injectable()
export class PromWebhookMetrics extends WebhookMetrics {
  private readonly deliveries: Counter;
  private readonly seconds: Histogram;

  constructor(registry: Registry, queue: DeliveryQueue, clock: Clock) {
    super();
    const registers = [registry];
    this.deliveries = new Counter({
      name: 'webhook_deliveries_total',
      help: 'Posts to webhook endpoints whose result this node stored: delivered, failed (to be tried again) or dead',
      labelNames: ['endpoint', 'outcome'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'webhook_seconds',
      help: 'From the start of a post to a webhook endpoint to the end of its answer',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers,
    });
    const backlog = new RecentAnswer(() => queue.backlog(), READ_TTL_MS, clock);
    gauge(registry, backlog, 'webhook_backlog', 'Deliveries that wait, counted up to 100,000', (one) => one.waiting);
    gauge(
      registry,
      backlog,
      'webhook_oldest_seconds',
      'Age of the oldest event that waits for delivery',
      (one) => one.ageSeconds,
    );
    gauge(registry, backlog, 'webhook_failing', '1 while no delivery has succeeded since the last failure', (one) =>
      Number(one.isFailing),
    );
  }

  override recorded(endpoint: string, status: DeliveryStatus): void {
    this.deliveries.inc({ endpoint, outcome: OUTCOME[status] });
  }

  override posted(seconds: number): void {
    this.seconds.observe(seconds);
  }
}

/** Without the database the values are left out. */
function gauge(
  registry: Registry,
  backlog: RecentAnswer<readonly Backlog[]>,
  name: string,
  help: string,
  valueOf: (one: Backlog) => number,
): void {
  new Gauge({
    name,
    help,
    labelNames: ['endpoint'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const one of await backlog.get().catch(() => [])) this.set({ endpoint: one.endpointId }, valueOf(one));
    },
  });
}
