import { signerKey } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

/**
 * A lease that this node holds, and for how long this node may trust it. The trust ends before the database's expiry: it is counted on the
 * monotonic clock from *before* the request that granted it.
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

  /** The late answer to an early request must not shorten the trust that a newer request granted. */
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
