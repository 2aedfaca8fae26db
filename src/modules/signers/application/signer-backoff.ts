import { signerKey, type SignerId } from '../../../kernel/signer-id.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface Trouble {
  /** With a success of others in between; what fails together with everybody says nothing about the signer. */
  readonly failures: number;
  readonly pausedUntilMs: number;
}

/** Signers whose work failed while that of others succeeded: they work alone, after growing pauses, until they succeed. */
export class SignerBackoff {
  private readonly troubles = new Map<string, Trouble>();

  has(signer: SignerId): boolean {
    return this.troubles.has(signerKey(signer));
  }

  isPaused(signer: SignerId, nowMs: number): boolean {
    const trouble = this.troubles.get(signerKey(signer));
    return trouble !== undefined && nowMs < trouble.pausedUntilMs;
  }

  /** It failed, and it may be everybody's trouble: it works alone, and at once. */
  doubt(signer: SignerId): void {
    const failures = this.troubles.get(signerKey(signer))?.failures ?? 0;
    this.troubles.set(signerKey(signer), { failures, pausedUntilMs: 0 });
  }

  /** It failed, and others did not. */
  failed(signer: SignerId, nowMs: number): void {
    const failures = (this.troubles.get(signerKey(signer))?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);
    this.troubles.set(signerKey(signer), { failures, pausedUntilMs: nowMs + pauseMs });
  }

  succeeded(signers: readonly SignerId[]): void {
    if (this.troubles.size === 0) return;
    for (const signer of signers) this.troubles.delete(signerKey(signer));
  }
}
