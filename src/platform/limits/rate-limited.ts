import { TooMany } from '../../kernel/errors.js';

export type LimitName =
  | 'requests'
  | 'bytes'
  | 'streams'
  | 'waiting_txs'
  | 'webhook_endpoints'
  | 'signer_txs'
  | 'signer_waiting_txs';

/** For what ends nobody knows when: streams, what waits. */
export const UNKNOWN_END_SECONDS = 5;

/** What a limit allows at all nodes, and what is left at this one, as the headers RateLimit-Policy and RateLimit have it. */
export interface Quota {
  readonly policy: string;
  readonly left: string;
}

/** An account or a signer has as much as it may have. Nothing was done. */
export class RateLimited extends TooMany {
  override readonly retryAfterSeconds: number;

  /** @param quota of the limit, where the answer does not tell it anyway */
  constructor(
    limit: LimitName,
    afterSeconds: number,
    readonly quota: Quota | null = null,
  ) {
    super(
      'rate_limited',
      `the limit ${limit} is reached`,
      'send it again after the seconds of Retry-After, or ask the operators for more',
      { limit },
    );
    this.retryAfterSeconds = Math.max(1, Math.ceil(afterSeconds));
  }
}
