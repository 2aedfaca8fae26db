import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import { plus, type Spending } from '../../../policies/index.js';
import type { Lease, SlotHolder } from '../../../signers/index.js';
import type { PoolKind } from '../../domain/txs-in-flight.js';
import { olderBy, type QueuePosition } from '../../domain/tx-queue.js';

interface Remembered {
  readonly token: bigint;
  /** What its signer sent is all known. */
  admitted: boolean;
  recovered: boolean;
  alignedAtMs: number | null;
  /** A slot may have been released since the last check for nonce gaps. */
  mayHaveGaps: boolean;
  inFlight: InFlight | null;
  queue: QueueProgress;
  kinds: Kinds;
  /** Monotonic ms. The signer gets no nonces for payloads before. */
  heldBackUntilMs: number;
  daily: DailySum | null;
}

/**
 * What is spent or reserved of the daily amounts of a signer, at most: what ended since it was summed up is in it. All that is in flight has a reserve,
 * since it was summed up by the policies of this mark.
 */
interface DailySum {
  readonly mark: string;
  readonly sum: Spending;
  /** Slots that reserved something since then. */
  readonly slots: number;
  readonly sumAgainAtMs: number;
}

/** What is known of the kinds of transactions that are never in flight together. */
interface Kinds {
  /** Another kind than `plain` waits, or may be in flight. */
  readonly mayBe: boolean;
  /** The kind with the next turn. */
  readonly next: PoolKind | null;
  readonly nextUntilMs: number;
}

/** How far the queue of untried txs was read. */
interface QueueProgress {
  readonly after: QueuePosition | null;
  /** When to read the queue from its start again; monotonic ms. */
  readonly startAgainAtMs: number;
}

/**
 * The count of txs with a nonce that are not mined: the last count, plus the nonces allocated since. Txs that were mined since are
 * subtracted only by the next count.
 */
interface InFlight {
  count: number;
  countAgainAtMs: number;
}

/**
 * An id may be older by this time than ids that were read before it, because it was committed later. Ids that come even later are found
 * when the queue is read from its start.
 */
const LATE_COMMIT_MS = 10_000;
/**
 * Pause before the next read from the start, in times the duration of the last one: frequent while such a read is cheap, rare while dead
 * index entries make it expensive.
 */
const PAUSE_PER_READ_TIME = 100;
const LONGEST_PAUSE_MS = 30_000;
/** A kind loses its turn when none of it was seen for so long: its payload was cancelled, or does not get ready. */
const TURN_MS = 10_000;
/** Some looks for authorizations, so that a slow one lets nothing through. */
const HELD_BACK_MS = 5_000;
/** What has ended becomes rows to delete, and to read when it is summed up. All at the same time: signers share commits, and each sum costs statements. */
const SUM_INTERVAL_MS = 10_000;
/** Rows that the next sum of a signer has to delete besides those in flight: one statement does that for several signers. */
const SUM_SLOTS = 200;
/** A count reads one row for each tx in flight, so it is repeated only when the limit is near, and not more often than this. */
const COUNT_INTERVAL_MS = 1_000;

/**
 * What a lane knows without a read of the database. It belongs to one fencing token. With another token, or after a failure during a lane
 * step, it is forgotten, and the lane starts from what is stored.
 */
@Injectable()
export class LaneMemory {
  private readonly lanes = new Map<string, Remembered>();

  constructor(private readonly clock: Clock) {}

  needsRecovery(lease: Lease): boolean {
    return !this.of(lease).recovered;
  }

  /** Whether the lane may begin or go on. False again when the lane is forgotten: then it is admitted anew. */
  isAdmitted(lease: Lease): boolean {
    return this.of(lease).admitted;
  }

  admitted(leases: readonly Lease[]): void {
    for (const lease of leases) this.of(lease).admitted = true;
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

  /** The chain is asked again before the next allocation. */
  alignAgain(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane) lane.alignedAtMs = null;
  }

  /** After a nonce error of a node. */
  distrustNonce(signer: SignerId): void {
    this.alignAgain(signer);
    // Its tx may wait again, with an id below the position that was read.
    this.rereadQueue([signer]);
  }

  /** Untried txs below the position that was read wait: the next read of the queue begins at its start. */
  rereadQueue(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const lane = this.lanes.get(signerKey(signer));
      if (lane) lane.queue = { ...lane.queue, startAgainAtMs: 0 };
    }
  }

  /** Whether a lane step is needed without a ring: after an interrupted step, or to check for nonce gaps. */
  needsStep(lease: Lease): boolean {
    return this.needsRecovery(lease) || this.mayHaveGaps(lease);
  }

  /** A slot was released, so a fill may be needed. */
  gapOpened(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane) lane.mayHaveGaps = true;
  }

  mayHaveGaps(lease: Lease): boolean {
    return this.of(lease).mayHaveGaps;
  }

  /** Every nonce gap found so far has a fill, which is a tx like any other. */
  gapsChecked(leases: readonly Lease[]): void {
    for (const lease of leases) this.of(lease).mayHaveGaps = false;
  }

  /** At least the number of txs in flight: txs that were mined since the last count are still in it. Null before the first count. */
  inFlight(lease: Lease): number | null {
    return this.of(lease).inFlight?.count ?? null;
  }

  /** The same, whoever holds the lease. */
  inFlightOf(signer: SignerId): number | null {
    return this.lanes.get(signerKey(signer))?.inFlight?.count ?? null;
  }

  /** Whether a new count could show room for more txs. */
  mayCountInFlight(lease: Lease): boolean {
    const { inFlight } = this.of(lease);
    return inFlight === null || this.clock.monotonicMs() >= inFlight.countAgainAtMs;
  }

  countedInFlight(lease: Lease, count: number): void {
    this.of(lease).inFlight = { count, countAgainAtMs: this.clock.monotonicMs() + COUNT_INTERVAL_MS };
  }

  /** Txs of these signers got a nonce. One entry per tx. */
  noncesAllocated(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const inFlight = this.lanes.get(signerKey(signer))?.inFlight;
      if (inFlight) inFlight.count += 1;
    }
  }

  /** Txs of these signers were mined, so there is room for others. */
  madeRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const inFlight = this.lanes.get(signerKey(signer))?.inFlight;
      if (inFlight) inFlight.countAgainAtMs = 0;
    }
  }

  /** The position at which the next read of the queue begins; null for its start. */
  queueStart(lease: Lease): QueuePosition | null {
    const { after, startAgainAtMs } = this.of(lease).queue;
    return this.clock.monotonicMs() < startAgainAtMs ? after : null;
  }

  /**
   * @param start where the read began
   * @param tookMs duration of the read
   * @param last position of the last untried tx that was found; null when there was none
   */
  queueRead(lease: Lease, start: QueuePosition | null, tookMs: number, last: QueuePosition | null): void {
    const lane = this.of(lease);
    const after = last === null ? lane.queue.after : olderBy(LATE_COMMIT_MS, last);
    const pauseMs = Math.min(PAUSE_PER_READ_TIME * tookMs, LONGEST_PAUSE_MS);
    const startAgainAtMs = start === null ? this.clock.monotonicMs() + pauseMs : lane.queue.startAgainAtMs;
    lane.queue = { after, startAgainAtMs };
  }

  /** Whether more than one kind of transactions has to be thought of; until it is known, yes. */
  mayHaveKinds(signer: SignerId): boolean {
    return this.lanes.get(signerKey(signer))?.kinds.mayBe ?? true;
  }

  /** The kind with the next turn; null when none waits. */
  nextKind(signer: SignerId): PoolKind | null {
    const kinds = this.lanes.get(signerKey(signer))?.kinds;
    return kinds && this.clock.monotonicMs() < kinds.nextUntilMs ? kinds.next : null;
  }

  /**
   * @param next the kind with the next turn
   * @param isSpecial another kind than `plain` waits, or is in flight
   */
  kindsSeen(signer: SignerId, next: PoolKind | null, isSpecial: boolean): void {
    const lane = this.lanes.get(signerKey(signer));
    if (!lane) return;
    const nextUntilMs = isSpecial ? this.clock.monotonicMs() + TURN_MS : lane.kinds.nextUntilMs;
    lane.kinds = { mayBe: isSpecial || next !== null, next, nextUntilMs };
  }

  /**
   * An authorization of the signer is wanted, and gets the next nonce: nothing else does, until nothing is in flight. Called again and again
   * while this is so.
   */
  holdBack(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane) lane.heldBackUntilMs = this.clock.monotonicMs() + HELD_BACK_MS;
  }

  /** Payloads of the signer may get nonces again. */
  letGo(signer: SignerId): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane) lane.heldBackUntilMs = 0;
  }

  isHeldBack(signer: SignerId): boolean {
    return this.clock.monotonicMs() < (this.lanes.get(signerKey(signer))?.heldBackUntilMs ?? 0);
  }

  /** Of the policies of this mark: what is spent or reserved of the daily amounts, at most. Null when that has to be summed up. */
  dailySum(signer: SignerId, token: bigint, mark: string): Spending | null {
    const daily = this.dailyOf(signer, token, mark);
    return daily && daily.slots < SUM_SLOTS && this.clock.monotonicMs() < daily.sumAgainAtMs ? daily.sum : null;
  }

  /** Whether all that the signer has in flight has a reserve, by the policies of this mark. */
  hasReserves(signer: SignerId, token: bigint, mark: string): boolean {
    return this.dailyOf(signer, token, mark) !== null;
  }

  /** Everything in flight was reserved, and summed up. Not kept of a lane that has not begun: what it sent is not all known. */
  summedUp(signer: SignerId, token: bigint, mark: string, { value, fees }: Spending): void {
    const lane = this.lanes.get(signerKey(signer));
    if (lane?.token !== token || !lane.recovered) return;
    const sumAgainAtMs = (Math.floor(this.clock.monotonicMs() / SUM_INTERVAL_MS) + 1) * SUM_INTERVAL_MS;
    lane.daily = { mark, sum: { value, fees }, slots: 0, sumAgainAtMs };
  }

  /** Slots were taken, with these reserves. */
  reserved(slots: readonly SlotHolder[]): void {
    for (const { signer, reserve } of slots) {
      const lane = this.lanes.get(signerKey(signer));
      if (!lane?.daily || !reserve) continue;
      const { sum, slots: before } = lane.daily;
      lane.daily = { ...lane.daily, sum: plus(sum, reserve), slots: before + 1 };
    }
  }

  /** Something may be in flight without a reserve, or for more than that; or reserves were changed. */
  sumUpAgain(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const lane = this.lanes.get(signerKey(signer));
      if (lane) lane.daily = null;
    }
  }

  private dailyOf(signer: SignerId, token: bigint, mark: string): DailySum | null {
    const lane = this.lanes.get(signerKey(signer));
    return lane?.token === token && lane.daily?.mark === mark ? lane.daily : null;
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
    const kinds = { mayBe: true, next: null, nextUntilMs: 0 };
    const fresh = {
      token: lease.token,
      admitted: false,
      recovered: false,
      alignedAtMs: null,
      mayHaveGaps: true,
      inFlight: null,
      queue,
      kinds,
      heldBackUntilMs: 0,
      daily: null,
    };
    this.lanes.set(key, fresh);
    return fresh;
  }
}
