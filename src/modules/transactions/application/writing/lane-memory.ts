import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import type { Lease } from '../../../signers/index.js';
import { olderBy, type QueuePosition } from '../../domain/queue-position.js';

interface Remembered {
  readonly token: bigint;
  recovered: boolean;
  alignedAtMs: number | null;
  /** When to look for holes again; null when there are none. */
  gapsDueAtMs: number | null;
  inFlight: InFlight | null;
  queue: QueueProgress;
}

/** How far the queue of those that were not tried was read. */
interface QueueProgress {
  readonly after: QueuePosition | null;
  /** When to read it from its start again; monotonic ms. */
  readonly startAgainAtMs: number;
}

/** Txs with a nonce that are not mined: counted once, and what was added since. What was mined since shows at the next count. */
interface InFlight {
  count: number;
  countAgainAtMs: number;
}

/** A hole is filled once, and then waited for: asking more often than blocks come is of no use. */
export const GAP_CHECK_INTERVAL_MS = 1_000;
/**
 * Milliseconds by which ids may be older than those that were read, and be committed later. What comes later still is found when the
 * queue is read from its start again.
 */
const LATE_COMMIT_MS = 10_000;
/** Of the time that a look from the start took: while it is cheap, all looks are; while dead index entries make it dear, few. */
const PAUSE_PER_COST = 100;
const LONGEST_PAUSE_MS = 30_000;
/** A count costs one row for each tx in flight, so it is repeated only when room is short, and then only so often. */
const COUNT_INTERVAL_MS = 1_000;

/**
 * What a lane knows without asking the database. It belongs to one fencing token: with another token, or after any failure
 * in the middle of a step, it is forgotten, and the lane starts from what is written.
 */
@Injectable()
export class LaneMemory {
  private readonly lanes = new Map<string, Remembered>();

  constructor(private readonly clock: Clock) {}

  needsRecovery(lease: Lease): boolean {
    return !this.of(lease).recovered;
  }

  recovered(leases: readonly Lease[]): void {
    for (const lease of leases) this.of(lease).recovered = true;
  }

  /** @param maxAgeMs `nonce.nonceStateTimeout` */
  needsAlignment(lease: Lease, maxAgeMs: number): boolean {
    const { alignedAtMs } = this.of(lease);
    return alignedAtMs === null || this.clock.monotonicMs() - alignedAtMs > maxAgeMs;
  }

  aligned(leases: readonly Lease[]): void {
    for (const lease of leases) this.of(lease).alignedAtMs = this.clock.monotonicMs();
  }

  /** A nonce error of a node: ask the chain again before the next allocation. */
  distrustNonce(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (!lane) return;
    lane.alignedAtMs = null;
    // Its tx may wait again, with an id that was read long ago.
    lane.queue = { ...lane.queue, startAgainAtMs: 0 };
  }

  /** Whether a step is owed although nothing rang: something was left half done, or a hole is to be looked after. */
  owesStep(lease: Lease): boolean {
    return this.needsRecovery(lease) || this.mayHaveGaps(lease);
  }

  /** A slot was released: something may have to fill it. */
  gapOpened(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane) lane.gapsDueAtMs = this.clock.monotonicMs();
  }

  mayHaveGaps(lease: Lease): boolean {
    const { gapsDueAtMs } = this.of(lease);
    return gapsDueAtMs !== null && this.clock.monotonicMs() >= gapsDueAtMs;
  }

  gapsChecked(leases: readonly Lease[], stillOpen: ReadonlySet<string>): void {
    for (const lease of leases) {
      this.of(lease).gapsDueAtMs = stillOpen.has(signerKey(lease.signer))
        ? this.clock.monotonicMs() + GAP_CHECK_INTERVAL_MS
        : null;
    }
  }

  /** Txs in flight of a signer, or more, as what was mined lately is not taken off; null before they were counted. */
  inFlight(lease: Lease): number | null {
    return this.of(lease).inFlight?.count ?? null;
  }

  /** Whether counting again could show more room. */
  mayCountInFlight(lease: Lease): boolean {
    const { inFlight } = this.of(lease);
    return inFlight === null || this.clock.monotonicMs() >= inFlight.countAgainAtMs;
  }

  countedInFlight(lease: Lease, count: number): void {
    this.of(lease).inFlight = { count, countAgainAtMs: this.clock.monotonicMs() + COUNT_INTERVAL_MS };
  }

  /** Txs of these signers got a nonce; one entry for each. */
  tookNonces(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const inFlight = this.lanes.get(signerKey(signer))?.inFlight;
      if (inFlight) inFlight.count += 1;
    }
  }

  /** Txs of these signers were mined: there is room again. */
  madeRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const inFlight = this.lanes.get(signerKey(signer))?.inFlight;
      if (inFlight) inFlight.countAgainAtMs = 0;
    }
  }

  /** Where a look at what waits begins; null for the start. */
  queueStart(lease: Lease): QueuePosition | null {
    const { after, startAgainAtMs } = this.of(lease).queue;
    return this.clock.monotonicMs() < startAgainAtMs ? after : null;
  }

  /**
   * @param start where the look began
   * @param tookMs how long it took
   * @param last of those that were not tried, and found; null when there were none
   */
  queueRead(lease: Lease, start: QueuePosition | null, tookMs: number, last: QueuePosition | null): void {
    const lane = this.of(lease);
    const after = last === null ? lane.queue.after : olderBy(LATE_COMMIT_MS, last);
    const pauseMs = Math.min(PAUSE_PER_COST * tookMs, LONGEST_PAUSE_MS);
    const startAgainAtMs = start === null ? this.clock.monotonicMs() + pauseMs : lane.queue.startAgainAtMs;
    lane.queue = { after, startAgainAtMs };
  }

  forget(signers: readonly SignerId[]): void {
    for (const signer of signers) this.lanes.delete(signerKey(signer));
  }

  forgetAll(): void {
    this.lanes.clear();
  }

  private of(lease: Lease): Remembered {
    const key = signerKey(lease.signer);
    const known = this.lanes.get(key);
    if (known?.token === lease.token) return known;
    const queue = { after: null, startAgainAtMs: 0 };
    const fresh = { token: lease.token, recovered: false, alignedAtMs: null, gapsDueAtMs: 0, inFlight: null, queue };
    this.lanes.set(key, fresh);
    return fresh;
  }
}
