import { Injectable } from '@nestjs/common';
import { backoffMs } from '../../../kernel/backoff.js';
import { Clock } from '../../../kernel/clock.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { PublishFailed } from '../../../sinks/event-sink.js';

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;

/** Whether the broker takes events from this node. Says in the log when that changes, and has the node rest between two tries in vain. */
@Injectable()
export class FeedHealth {
  private failures = 0;
  private restsUntilMs = 0;
  /** The reason that was logged last: null for nothing yet, and empty text for success. */
  private said: string | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly metrics: Metrics,
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
    this.metrics.count('broker_failures_total', 1, { code });
    this.restsUntilMs = this.clock.monotonicMs() + backoffMs(FIRST_REST_MS, this.failures, LONGEST_REST_MS);
    this.failures += 1;
    // How it is seen that a broker is away changes while it is: one outage, one line.
    const reason = code === 'broker_unreachable' ? code : message;
    if (this.said !== reason)
      this.log.error('broker takes no events', { code, problem: message, advice, error: cause });
    this.said = reason;
  }
}
