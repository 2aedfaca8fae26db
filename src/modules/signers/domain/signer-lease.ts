import { signerKey } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

/**
 * A lease held by this node, and how long this node may trust it. The trust ends no later than the database's expiry:
 * it is counted on the monotonic clock from *before* the request that granted it was sent.
 */
export class SignerLease {
  private trustedUntilMs: number;
  private workSeenAtMs: number;

  constructor(
    readonly lease: Lease,
    requestedAtMs: number,
    durationMs: number,
  ) {
    this.trustedUntilMs = requestedAtMs + durationMs;
    this.workSeenAtMs = requestedAtMs;
  }

  get key(): string {
    return signerKey(this.lease.signer);
  }

  /** A late answer to an early request must not shorten what a newer one granted. */
  renewed(requestedAtMs: number, durationMs: number): void {
    this.trustedUntilMs = Math.max(this.trustedUntilMs, requestedAtMs + durationMs);
  }

  workSeen(nowMs: number): void {
    this.workSeenAtMs = nowMs;
  }

  isIdle(nowMs: number, afterMs: number): boolean {
    return nowMs - this.workSeenAtMs > afterMs;
  }

  isTrusted(nowMs: number): boolean {
    return nowMs < this.trustedUntilMs;
  }
}
