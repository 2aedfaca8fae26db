import { Injectable } from '@nestjs/common';
import { backoffMs } from '../../../kernel/backoff.js';
import { Clock } from '../../../kernel/clock.js';
import { Log } from '../../../platform/logging/log.js';
import type { PublishFailed } from '../domain/event-sink.js';
import { BrokerMetrics } from './broker-metrics.js';

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;

/** Whether the broker takes events from this node. Says in the log when that changes, and has the node rest between two tries in vain. */
@Injectable()
export class FeedHealth {
  private failures = 0;
  private restsUntilMs = 0;
  /** What was logged last: null for nothing yet, and empty text for success. */
  private said: string | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly metrics: BrokerMetrics,
    private readonly log: Log,
  ) {}

  /** The last try failed. */
  get isDown(): boolean {
    return this.failures > 0;
  }

  get isResting(): boolean {
    return this.clock.monotonicMs() < this.restsUntilMs;
  }

  succeeded(): void {
    this.failures = 0;
    this.restsUntilMs = 0;
    if (this.said !== '') this.log.info('broker takes events');
    this.said = '';
  }

  /** @param hasProgress some events were stored for good before */
  failed({ code, message, advice, cause }: PublishFailed, hasProgress: boolean): void {
    if (hasProgress) this.failures = 0;
    this.metrics.failed(code);
    this.restsUntilMs = this.clock.monotonicMs() + backoffMs(FIRST_REST_MS, this.failures, LONGEST_REST_MS);
    this.failures += 1;
    if (this.said !== message)
      this.log.error('broker takes no events', { code, problem: message, advice, error: cause });
    this.said = message;
  }
}
