import { backoffMs } from '../../../../kernel/backoff.js';
import type { EndpointStatus } from '../../domain/endpoint-status.js';
import type { HeadPosition } from '../../domain/head-quorum.js';
import type { RpcFailure } from './json-rpc.js';

/** Failures in a row after which an endpoint goes into back-off. */
const FAILURES_TO_BACK_OFF = 3;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** Rate limits are counted per second or minute: a longer back-off would gain nothing, and the endpoint may be the only one. */
const MAX_RATE_LIMIT_BACKOFF_MS = 1_000;
/** An endpoint with a wrong chain id is asked for its chain id again after this time. */
const WRONG_CHAIN_RECHECK_MS = 30_000;
const LATENCY_STEP_MS = 500;
const UNVERIFIED_PENALTY = 1_000_000;
/** Weight of the newest sample in the average latency. */
const EWMA_WEIGHT = 0.2;

/**
 * Whether and when one endpoint may be used: from its failures in a row, its latency and lag, the wait it asked for, and its chain id.
 * Times are monotonic milliseconds.
 */
export class EndpointHealth {
  private consecutiveFailures = 0;
  private latency: number | null = null;
  private closedUntil = 0;
  private lastError: string | null = null;
  private chain: 'unverified' | 'verified' | 'wrong_chain' = 'unverified';
  private reportedChainId: number | null = null;
  /** The endpoint asked us to wait (429 or Retry-After); else the back-off is our own guess after failures. */
  private askedToWait = false;
  private position: HeadPosition | null = null;

  /** @param maxLag blocks behind the best head above which it counts as lagging */
  constructor(private readonly maxLag: number) {}

  get verified(): boolean {
    return this.chain === 'verified';
  }

  get mustWait(): boolean {
    return this.askedToWait;
  }

  /** When the back-off ends. */
  get availableAt(): number {
    return this.closedUntil;
  }

  get lagging(): boolean {
    return this.position !== null && this.position.lag > this.maxLag;
  }

  /** Reports a head that the other endpoints do not confirm, and that the chain can hardly have reached. */
  get ahead(): boolean {
    return this.position?.isAhead === true;
  }

  /** Neither lags behind the other endpoints nor is ahead of them, as far as known. */
  get isCurrent(): boolean {
    return !this.lagging && !this.ahead;
  }

  /** The last request failed. */
  get failedLately(): boolean {
    return this.consecutiveFailures > 0;
  }

  /** Serves another chain: its answers and its head are not used. */
  get isOfAnotherChain(): boolean {
    return this.chain === 'wrong_chain';
  }

  /**
   * Higher is worse. Latency counts in wide steps, so that a busy moment does not change the order of the config. An endpoint whose
   * chain id is not verified comes last, so that no read waits for an endpoint that may be of no use.
   */
  get penalty(): number {
    const unknown = this.verified ? 0 : UNVERIFIED_PENALTY;
    return unknown + this.consecutiveFailures * 1_000 + Math.round((this.latency ?? 0) / LATENCY_STEP_MS);
  }

  /** An endpoint of another chain is only asked for its chain id again, after the back-off. */
  isCandidate(now: number): boolean {
    return this.chain !== 'wrong_chain' || this.closedUntil <= now;
  }

  /** @param latencyMs null when a call took as long as we wait, which says nothing about the others */
  answered(latencyMs: number | null): void {
    this.consecutiveFailures = 0;
    this.closedUntil = 0;
    this.askedToWait = false;
    if (latencyMs !== null)
      this.latency = this.latency === null ? latencyMs : this.latency + EWMA_WEIGHT * (latencyMs - this.latency);
  }

  failed(failure: Pick<RpcFailure, 'reason' | 'message' | 'retryAfterMs'>, now: number): void {
    this.consecutiveFailures += 1;
    this.lastError = failure.message;
    this.askedToWait = failure.reason === 'rate_limited' || failure.retryAfterMs !== undefined;
    const beyond = this.askedToWait ? this.consecutiveFailures - 1 : this.consecutiveFailures - FAILURES_TO_BACK_OFF;
    this.closedUntil = now + this.backoff(beyond, failure.retryAfterMs);
    // After a lost connection another node may answer at the same URL: its chain id is verified before it is used.
    const wasAway = failure.reason === 'connection' || failure.reason === 'unreachable' || beyond >= 0;
    if (wasAway && this.chain === 'verified' && !this.askedToWait) this.chain = 'unverified';
  }

  isOnChain(): void {
    this.chain = 'verified';
    this.reportedChainId = null;
    this.lastError = null;
  }

  /** As compared with the other endpoints of the chain. */
  setHeadPosition(position: HeadPosition): void {
    this.position = position;
  }

  isOnOtherChain(reported: number, now: number): void {
    this.chain = 'wrong_chain';
    this.position = null;
    this.reportedChainId = reported;
    this.closedUntil = now + WRONG_CHAIN_RECHECK_MS;
    this.askedToWait = true;
    this.lastError = `serves chain ${reported}`;
  }

  status(now: number): Omit<EndpointStatus, 'chainId' | 'endpoint'> {
    return {
      state: this.stateAt(now),
      lagBlocks: this.position?.lag ?? null,
      consecutiveFailures: this.consecutiveFailures,
      latencyMs: this.latency === null ? null : Math.round(this.latency),
      reportedChainId: this.reportedChainId,
      lastError: this.lastError,
    };
  }

  /** Uses the wait that the endpoint asked for, but at least the first back-off: `Retry-After: 0` must not cause a tight loop. */
  private backoff(beyond: number, retryAfterMs: number | undefined): number {
    if (retryAfterMs !== undefined) return Math.max(retryAfterMs, FIRST_BACKOFF_MS);
    const longest = this.askedToWait ? MAX_RATE_LIMIT_BACKOFF_MS : MAX_BACKOFF_MS;
    return beyond < 0 ? 0 : backoffMs(FIRST_BACKOFF_MS, beyond, longest);
  }

  private stateAt(now: number): EndpointStatus['state'] {
    if (this.chain === 'wrong_chain') return 'wrong_chain';
    if (this.closedUntil > now) return 'backing_off';
    if (this.chain === 'unverified') return 'unverified';
    if (this.ahead) return 'ahead';
    return this.lagging ? 'lagging' : 'up';
  }
}
