import { TooMany } from '../../kernel/errors.js';

export type LimitName =
  'requests' | 'bytes' | 'streams' | 'waiting_txs' | 'webhook_endpoints' | 'signer_txs' | 'signer_waiting_txs';

/** For what ends nobody knows when: streams, what waits. */
export const UNKNOWN_END_SECONDS = 5;

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
