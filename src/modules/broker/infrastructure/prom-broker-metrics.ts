import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { BrokerConfig } from '../../../config/lockstep-config.js';
import { BrokerMetrics } from '../application/broker-metrics.js';
import type { PublishFailureCode } from '../domain/event-sink.js';
import type { FeedLag } from '../domain/feed-cursor.js';

/** Nothing is shown where no broker is configured. */
@Injectable()
export class PromBrokerMetrics extends BrokerMetrics {
  private readonly eventsTotal: Counter<'result'>;
  private readonly failuresTotal: Counter<'code'>;
  private readonly connectedGauge: Gauge;
  private readonly lagGauge: Gauge;
  private readonly behindGauge: Gauge;

  constructor(registry: Registry, { isOn }: BrokerConfig) {
    super();
    const registers = isOn ? [registry] : [];
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
    this.eventsTotal = new Counter({
      name: 'broker_events_total',
      help: 'Events that the broker acknowledged: stored, or dropped by it because it had them already',
      labelNames: ['result'],
      registers,
    });
    this.failuresTotal = new Counter({
      name: 'broker_failures_total',
      help: 'Tries to publish that the broker did not take',
      labelNames: ['code'],
      registers,
    });
    this.connectedGauge = gauge(
      'broker_connected',
      '1 while this node is connected to the broker; one node needs to be',
    );
    this.lagGauge = gauge(
      'broker_lag_events',
      'Rows of the event log that are not published yet, about; the same on all nodes',
    );
    this.behindGauge = gauge('broker_behind_seconds', 'Age of the oldest of them; the same on all nodes');
  }

  published(events: number, duplicates: number): void {
    this.eventsTotal.inc({ result: 'stored' }, events - duplicates);
    this.eventsTotal.inc({ result: 'duplicate' }, duplicates);
  }

  failed(code: PublishFailureCode): void {
    this.failuresTotal.inc({ code });
  }

  connected(isConnected: boolean): void {
    this.connectedGauge.set(isConnected ? 1 : 0);
  }

  lag({ rows, seconds }: FeedLag): void {
    this.lagGauge.set(rows);
    this.behindGauge.set(seconds);
  }
}
