import { backoffMs } from '../../../kernel/backoff.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { SignerBackoff } from '../../signers/index.js';

/** Signers that share a step share its database transactions; with more signers each would wait longer for the others. */
const SIGNERS_PER_STEP = 16;
const FIRST_REST_MS = 100;
/** While nothing succeeds: long, because a step that fails may cost several time-outs; short, to find out soon that the chain is back. */
const LONGEST_REST_MS = 2_000;

/**
 * The signers of one worker that wait for a lane step, in the order of their doorbells. A signer that was in a step goes to the end, so no
 * signer is always last. A signer that failed steps alone, in at most every other step.
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

  /** Takes the signers of the next step out of the queue. Drops signers that are backing off: polling finds their work again. */
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

  /** @param failed the signers of the share that failed while others succeeded */
  stepped(share: readonly SignerId[], failed: readonly SignerId[], nowMs: number): void {
    this.failuresInARow = 0;
    this.restsUntilMs = 0;
    const keys = new Set(failed.map(signerKey));
    this.troubled.succeeded(share.filter((signer) => !keys.has(signerKey(signer))));
    for (const signer of failed) this.troubled.failed(signer, nowMs);
  }

  /** No signer of the step succeeded: one of them may be the cause, or the chain or the database. */
  threw(share: readonly SignerId[], nowMs: number): void {
    const othersSucceeded = this.failuresInARow === 0;
    this.failuresInARow += 1;
    const rest = backoffMs(FIRST_REST_MS, this.failuresInARow - 1, LONGEST_REST_MS);
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

/** A transaction waits at most this long for others to share its step. */
const LONGEST_GATHERING_MS = 250;
/** Share of the time in which the process is busy. Below it there is time for many small steps, and each tx is sent at once. */
const BUSY_FROM_LOAD = 0.6;

/**
 * How long a lane waits after a step, so that work gathers. A step costs about the same for one tx and for fifty. A busy process runs fewer
 * and larger steps; an idle process does not wait.
 */
export class LanePace {
  private readonly steppedAtMs = new Map<string, number>();

  /** @param load of the process, between 0 and 1 */
  constructor(private readonly load: () => number) {}

  stepped(lane: string, atMs: number): void {
    this.steppedAtMs.set(lane, atMs);
  }

  /** Milliseconds until the lane should step again; 0 for at once. */
  restOf(lane: string, nowMs: number): number {
    const steppedAtMs = this.steppedAtMs.get(lane);
    const busy = (this.load() - BUSY_FROM_LOAD) / (1 - BUSY_FROM_LOAD);
    return steppedAtMs === undefined ? 0 : Math.max(0, steppedAtMs + busy * LONGEST_GATHERING_MS - nowMs);
  }
}
