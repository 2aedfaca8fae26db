import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { minOf } from '../../../kernel/quantities.js';
import type { BlockRef } from '../domain/block.js';
import { type Decision, isLaterObservation, observationsNeeded } from '../domain/evidence.js';

interface Look {
  /** What was seen, in a form that can be compared. */
  readonly said: string;
  readonly block: BlockRef;
  readonly atMs: number;
}

/** A chain without traffic may make no blocks at all: then the second look is this much later. Milliseconds. */
const WITHOUT_BLOCKS_MS = 30_000;
/** Looks that are remembered; the oldest are forgotten first, and their wait begins anew. */
const MOST = 100_000;

/**
 * What one endpoint says alone is believed for an irreversible decision only when a second look, at a later block, says the same
 * (design, I13). A restart forgets the first looks.
 */
@Injectable()
export class SecondObservations {
  private readonly first = new Map<string, Look>();

  constructor(private readonly clock: Clock) {}

  /**
   * @param key what is decided on
   * @param said what this look says
   * @param block of this look
   * @returns whether that is all the looks that the decision needs
   */
  agree(decision: Decision, key: string, said: string, block: BlockRef): boolean {
    const now = this.clock.monotonicMs();
    const known = this.first.get(key);
    if (observationsNeeded(decision, true) === 1) return true;
    if (known?.said === said) return isLaterObservation(known.block, block) || now - known.atMs >= WITHOUT_BLOCKS_MS;
    this.first.delete(key);
    this.first.set(key, { said, block, atMs: now });
    const [oldest] = this.first.keys();
    if (this.first.size > MOST && oldest !== undefined) this.first.delete(oldest);
    return false;
  }

  /**
   * The same for a number that only grows.
   * @returns the lower one of two looks, which both have reached; null after the first
   */
  lower(decision: Decision, key: string, value: bigint, block: BlockRef): bigint | null {
    const before = this.first.get(key);
    const isProven = this.agree(decision, key, before?.said ?? value.toString(), block);
    if (before === undefined || !isProven) return null;
    this.first.delete(key);
    return minOf(BigInt(before.said), value);
  }

  /** Of the look that waits for a second one; null when there is none. */
  firstBlock(key: string): BlockRef | null {
    return this.first.get(key)?.block ?? null;
  }

  forget(key: string): void {
    this.first.delete(key);
  }
}
