import type { LimitName } from './rate-limited.js';
import { BURST_SECONDS } from './serving-nodes.js';
import { type Rate, secondsUntil } from './token-buckets.js';

/** An item of the header RateLimit-Policy. @param perSecond at all nodes */
export function policyText({ limit, perSecond }: { readonly limit: LimitName; readonly perSecond: number }): string {
  const unit = limit === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${limit}";q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}${unit}`;
}

/** An item of the header RateLimit. @param rate of this node */
export function leftText(limit: LimitName, tokens: number, rate: Rate): string {
  const until = Math.ceil(secondsUntil(rate.most, tokens, rate));
  return `"${limit}";r=${Math.max(0, Math.floor(tokens))};t=${until}`;
}
