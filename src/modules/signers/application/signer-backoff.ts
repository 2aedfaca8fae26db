import { backoffMs } from '../../../kernel/backoff.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';

const FIRST_PAUSE_MS = 1_000;

interface Trouble {
  /** Failures in a row while other signers succeeded. A failure of all signers together says nothing about one of them. */
  readonly failures: number;
  readonly pausedUntilMs: number;
}

/** Signers whose work failed while that of other signers succeeded. They work alone, with growing pauses, until they succeed. */
export class SignerBackoff {
  private readonly troubles = new Map<string, Trouble>();

  has(signer: SignerId): boolean {
    return this.troubles.has(signerKey(signer));
  }

  isPaused(signer: SignerId, nowMs: number): boolean {
    const trouble = this.troubles.get(signerKey(signer));
    return trouble !== undefined && nowMs < trouble.pausedUntilMs;
  }

  /** The work of the signer failed, perhaps together with that of all others. It runs alone next time, without a pause. */
  doubt(signer: SignerId): void {
    const failures = this.troubles.get(signerKey(signer))?.failures ?? 0;
    this.troubles.set(signerKey(signer), { failures, pausedUntilMs: 0 });
  }

  /** The work of the signer failed, and that of others did not. */
  failed(signer: SignerId, nowMs: number): void {
    const failures = (this.troubles.get(signerKey(signer))?.failures ?? 0) + 1;
    const pauseMs = backoffMs(FIRST_PAUSE_MS, failures - 1);
    this.troubles.set(signerKey(signer), { failures, pausedUntilMs: nowMs + pauseMs });
  }

  succeeded(signers: readonly SignerId[]): void {
    if (this.troubles.size === 0) return;
    for (const signer of signers) this.troubles.delete(signerKey(signer));
  }
}
