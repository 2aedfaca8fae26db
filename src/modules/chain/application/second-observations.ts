import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { minOf } from '../../../kernel/quantities.js';
import type { BlockRef } from '../domain/block.js';
import { type Decision, isLaterObservation, observationsNeeded } from '../domain/evidence.js';

interface Observation {
  /** What was observed, in a form that can be compared. */
  readonly value: string;
  readonly block: BlockRef;
  readonly atMs: number;
}

/** A chain without traffic may make no blocks: then a second observation counts after this time. */
const NO_BLOCK_WAIT_MS = 30_000;
/** First observations that are remembered; the oldest ones are dropped first, and then have to be made again. */
const MAX_OBSERVATIONS = 100_000;

/**
 * The answer of a single endpoint leads to an irreversible decision only when a second observation, at a later block, is equal
 * (docs/invariants.md, I13). The first observations are lost at a restart.
 */
@Injectable()
export class SecondObservations {
  private readonly first = new Map<string, Observation>();

  constructor(private readonly clock: Clock) {}

  /**
   * @param key what the decision is about
   * @param value of this observation
   * @param block at which this observation was made
   * @returns whether the decision has all the observations that it needs
   */
  agree(decision: Decision, key: string, value: string, block: BlockRef): boolean {
    const now = this.clock.monotonicMs();
    const first = this.first.get(key);
    if (observationsNeeded(decision, true) === 1) return true;
    if (first?.value === value) return isLaterObservation(first.block, block) || now - first.atMs >= NO_BLOCK_WAIT_MS;
    this.first.delete(key);
    this.first.set(key, { value, block, atMs: now });
    const [oldest] = this.first.keys();
    if (this.first.size > MAX_OBSERVATIONS && oldest !== undefined) this.first.delete(oldest);
    return false;
  }

  /**
   * The same for a number that only grows.
   * @returns the lower number of two observations, which both have reached; null after the first observation
   */
  lower(decision: Decision, key: string, value: bigint, block: BlockRef): bigint | null {
    const first = this.first.get(key);
    const isProven = this.agree(decision, key, first?.value ?? value.toString(), block);
    if (first === undefined || !isProven) return null;
    this.first.delete(key);
    return minOf(BigInt(first.value), value);
  }

  /** The block of the observation that waits for a second one; null when there is none. */
  firstBlock(key: string): BlockRef | null {
    return this.first.get(key)?.block ?? null;
  }

  forget(key: string): void {
    this.first.delete(key);
  }
}
