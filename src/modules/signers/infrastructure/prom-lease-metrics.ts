import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LeaseMetrics } from '../application/lease-metrics.js';

@Injectable()
export class PromLeaseMetrics extends LeaseMetrics {
  private readonly acquireTotal: Counter<'result'>;
  private readonly renewTotal: Counter<'result'>;
  private readonly fencedTotal: Counter<'op'>;
  private readonly heldGauge: Gauge;
  private readonly commitSeconds: Histogram<'op'>;

  constructor(registry: Registry) {
    super();
    const registers = [registry];
    this.acquireTotal = new Counter({
      name: 'lease_acquire_total',
      help: 'Leases that this node tried to take',
      labelNames: ['result'],
      registers,
    });
    this.renewTotal = new Counter({
      name: 'lease_renew_total',
      help: 'Renewals of leases that this node held',
      labelNames: ['result'],
      registers,
    });
    this.fencedTotal = new Counter({
      name: 'lease_fenced_total',
      help: 'Critical writes refused because the lease was lost',
      labelNames: ['op'],
      registers,
    });
    this.heldGauge = new Gauge({ name: 'lease_held', help: 'Leases that this node holds', registers });
    this.commitSeconds = new Histogram({
      name: 'db_commit_seconds',
      help: 'Duration of fenced transactions',
      labelNames: ['op'],
      registers,
    });
  }

  acquired(result: 'acquired' | 'busy' | 'error', count: number): void {
    this.acquireTotal.inc({ result }, count);
  }

  renewed(result: 'renewed' | 'lost' | 'error', count: number): void {
    this.renewTotal.inc({ result }, count);
  }

  fenced(operation: string, count: number): void {
    this.fencedTotal.inc({ op: operation }, count);
  }

  held(count: number): void {
    this.heldGauge.set(count);
  }

  committed(operation: string, seconds: number): void {
    this.commitSeconds.observe({ op: operation }, seconds);
  }
}
