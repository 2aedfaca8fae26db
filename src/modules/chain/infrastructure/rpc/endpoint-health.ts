import type { EndpointStatus } from '../../domain/endpoint-status.js';
import type { Standing } from '../../domain/head-quorum.js';
import type { RpcFailure } from './json-rpc.js';

/** Fails this often in a row, and it is left alone for a while. */
const FAILURES_TO_OPEN = 3;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 30_000;
/** Limits are counted by the second or the minute: longer pauses would win nothing, and the endpoint may be the only one. */
const LONGEST_RATE_LIMIT_GUESS_MS = 1_000;
/** How long a wrong chain id is believed before it is asked again. */
const WRONG_CHAIN_RECHECK_MS = 30_000;
const LATENCY_STEP_MS = 500;
const UNVERIFIED_PENALTY = 1_000_000;
/** Weight of the newest sample in the average latency. */
const EWMA_WEIGHT = 0.2;

/** What one endpoint deserves: by failures in a row, latency, lag, what it asked for, and its chain id. Times are monotonic ms. */
export class EndpointHealth {
  private consecutiveFailures = 0;
  private latency: number | null = null;
  private closedUntil = 0;
  private lastError: string | null = null;
  private chain: 'unverified' | 'verified' | 'wrong_chain' = 'unverified';
  private reportedChainId: number | null = null;
  /** It told us to stay away (429), as opposed to us guessing from failures. */
  private askedToWait = false;
  private standing: Standing | null = null;

  /** @param maxLag blocks behind the best head above which it counts as lagging */
  constructor(private readonly maxLag: number) {}

  get verified(): boolean {
    return this.chain === 'verified';
  }

  get mustWait(): boolean {
    return this.askedToWait;
  }

  /** When it may be asked again. */
  get availableAt(): number {
    return this.closedUntil;
  }

  get lagging(): boolean {
    return this.standing !== null && this.standing.lag > this.maxLag;
  }

  /** Tells a head that the others cannot confirm, and that the chain can hardly have reached. */
  get ahead(): boolean {
    return this.standing?.isAhead === true;
  }

  /** Neither behind the others nor ahead of them, as far as known. */
  get isCurrent(): boolean {
    return !this.lagging && !this.ahead;
  }

  /** Its last answer was none. */
  get failedLately(): boolean {
    return this.consecutiveFailures > 0;
  }

  /** Known to serve another chain: neither its answers nor its head mean anything here. */
  get isElsewhere(): boolean {
    return this.chain === 'wrong_chain';
  }

  /**
   * Worse is higher. Latency counts in wide steps, so that a busy moment does not change the order of the config; one that
   * has yet to say its chain id comes after those that did, so that nobody waits for it in vain.
   */
  get penalty(): number {
    const unknown = this.verified ? 0 : UNVERIFIED_PENALTY;
    return unknown + this.consecutiveFailures * 1_000 + Math.round((this.latency ?? 0) / LATENCY_STEP_MS);
  }

  /** A wrong chain id is never used; it is only asked for its chain id again, later. */
  isCandidate(now: number): boolean {
    return this.chain !== 'wrong_chain' || this.closedUntil <= now;
  }

  answered(latencyMs: number): void {
    this.consecutiveFailures = 0;
    this.closedUntil = 0;
    this.askedToWait = false;
    this.latency = this.latency === null ? latencyMs : this.latency + EWMA_WEIGHT * (latencyMs - this.latency);
  }

  failed(failure: Pick<RpcFailure, 'reason' | 'message' | 'retryAfterMs'>, now: number): void {
    this.consecutiveFailures += 1;
    this.lastError = failure.message;
    this.askedToWait = failure.reason === 'rate_limited' || failure.retryAfterMs !== undefined;
    const beyond = this.askedToWait ? this.consecutiveFailures - 1 : this.consecutiveFailures - FAILURES_TO_OPEN;
    this.closedUntil = now + this.backoff(beyond, failure.retryAfterMs);
    // What answers after an absence may be another node: it must say its chain id before it is used again.
    const wasAway = failure.reason === 'connection' || failure.reason === 'unreachable' || beyond >= 0;
    if (wasAway && this.chain === 'verified' && !this.askedToWait) this.chain = 'unverified';
  }

  isOnChain(): void {
    this.chain = 'verified';
    this.reportedChainId = null;
    this.lastError = null;
  }

  /** Against the other endpoints of its chain. */
  standsAt(standing: Standing): void {
    this.standing = standing;
  }

  isOnOtherChain(reported: number, now: number): void {
    this.chain = 'wrong_chain';
    this.standing = null;
    this.reportedChainId = reported;
    this.closedUntil = now + WRONG_CHAIN_RECHECK_MS;
    this.askedToWait = true;
    this.lastError = `serves chain ${reported}`;
  }

  status(now: number): Omit<EndpointStatus, 'chainId' | 'endpoint'> {
    return {
      state: this.stateAt(now),
      lagBlocks: this.standing?.lag ?? null,
      consecutiveFailures: this.consecutiveFailures,
      latencyMs: this.latency === null ? null : Math.round(this.latency),
      reportedChainId: this.reportedChainId,
      lastError: this.lastError,
    };
  }

  /** What the endpoint asks for is better than our guess; only not at once, or all who wait would be back at once, for ever. */
  private backoff(beyond: number, retryAfterMs: number | undefined): number {
    if (retryAfterMs !== undefined) return Math.max(retryAfterMs, FIRST_BACKOFF_MS);
    const longest = this.askedToWait ? LONGEST_RATE_LIMIT_GUESS_MS : LONGEST_BACKOFF_MS;
    return beyond < 0 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(beyond, 20), longest);
  }

  private stateAt(now: number): EndpointStatus['state'] {
    if (this.chain === 'wrong_chain') return 'wrong_chain';
    if (this.closedUntil > now) return 'backing_off';
    if (this.chain === 'unverified') return 'unverified';
    if (this.ahead) return 'ahead';
    return this.lagging ? 'lagging' : 'up';
  }
}
