import { TooMany } from '../../kernel/errors.js';
import type { Metrics } from '../metrics/metrics.js';

export type LimitName = 'requests' | 'bytes' | 'streams' | 'signer_txs';

/** An account or a signer has as much as it may have. Nothing was done. */
export class RateLimited extends TooMany {
  override readonly retryAfterSeconds: number;

  constructor(limit: LimitName, afterSeconds: number) {
    super(
      'rate_limited',
      `the limit ${limit} is reached`,
      'send it again after the seconds of Retry-After, or ask the operators for more',
      { limit },
    );
    this.retryAfterSeconds = Math.max(1, Math.ceil(afterSeconds));
  }
}

/** A refusal that is counted. */
export function refusal(metrics: Pick<Metrics, 'count'>, limit: LimitName, afterSeconds: number): RateLimited {
  metrics.count('limited_total', 1, { limit });
  return new RateLimited(limit, afterSeconds);
}
