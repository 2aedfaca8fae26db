import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { SignerBackoff } from '../../signers/index.js';

/** Signers that share a step share its transactions; more of them in one would make each wait for the others. */
const SIGNERS_PER_STEP = 16;
const FIRST_REST_MS = 100;
/** While nothing succeeds: a step in vain may cost several time-outs, and a chain that is back is soon seen. */
const LONGEST_REST_MS = 2_000;

/**
 * The signers of one worker whose bell rang, in the order in which it did. Whoever was in a step goes to the end, so nobody is always
 * last; whoever failed steps alone, and at most every other step is for one of those.
 */
export class LaneQueue {
  private readonly waiting = new Map<string, SignerId>();
  private readonly troubled = new SignerBackoff();
  private lastWasTroubled = false;
  private failuresInARow = 0;
  private restsUntilMs = 0;

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  ring(signer: SignerId): void {
    this.waiting.set(signerKey(signer), signer);
  }

  /** Milliseconds until the next step, after steps that failed as a whole. */
  restMs(nowMs: number): number {
    return Math.max(0, this.restsUntilMs - nowMs);
  }

  /** Takes the signers of the next step out of the queue. Who has a pause is left out, and rings again when polling finds its work. */
  take(nowMs: number): SignerId[] {
    for (const [key, signer] of this.waiting) if (this.troubled.isPaused(signer, nowMs)) this.waiting.delete(key);
    const all = [...this.waiting.values()];
    const healthy = all.filter((signer) => !this.troubled.has(signer));
    const [alone] = all.filter((signer) => this.troubled.has(signer));
    const isTurnOfTroubled = alone !== undefined && (healthy.length === 0 || !this.lastWasTroubled);
    this.lastWasTroubled = isTurnOfTroubled;
    const share = isTurnOfTroubled ? [alone] : healthy.slice(0, SIGNERS_PER_STEP);
    for (const signer of share) this.waiting.delete(signerKey(signer));
    return share;
  }

  /** @param failed of the share, those that failed while the others did not */
  stepped(share: readonly SignerId[], failed: readonly SignerId[], nowMs: number): void {
    this.failuresInARow = 0;
    this.restsUntilMs = 0;
    const keys = new Set(failed.map(signerKey));
    this.troubled.succeeded(share.filter((signer) => !keys.has(signerKey(signer))));
    for (const signer of failed) this.troubled.failed(signer, nowMs);
  }

  /** Nothing of the step succeeded: the trouble of one of them, or of all. */
  threw(share: readonly SignerId[], nowMs: number): void {
    const othersSucceeded = this.failuresInARow === 0;
    this.failuresInARow += 1;
    const rest = Math.min(FIRST_REST_MS * 2 ** Math.min(this.failuresInARow - 1, 10), LONGEST_REST_MS);
    this.restsUntilMs = nowMs + rest;
    const [only] = share;
    if (only !== undefined && share.length === 1 && othersSucceeded) this.troubled.failed(only, nowMs);
    else
      for (const signer of share) {
        this.troubled.doubt(signer);
        this.ring(signer);
      }
  }
}
