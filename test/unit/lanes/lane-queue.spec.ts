import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { LaneQueue } from '../../../src/modules/lanes/infrastructure/lane-queue.js';
import { aSigner } from '../../support/builders.js';

const SIGNERS = Array.from({ length: 20 }, (_, n) => aSigner(n + 1));
const [ONE, TWO, THREE] = [aSigner(1), aSigner(2), aSigner(3)];

let queue: LaneQueue;
beforeEach(() => {
  queue = new LaneQueue();
});

const ringAll = (signers: readonly SignerId[]): void => signers.forEach((signer) => queue.ring(signer));

/** A step at a moment, in which some fail while others succeed. */
function step(nowMs: number, failing: readonly SignerId[] = []): SignerId[] {
  const share = queue.take(nowMs);
  queue.stepped(
    share,
    share.filter((signer) => failing.includes(signer)),
    nowMs,
  );
  return share;
}

describe('a lane queue', () => {
  it('gives sixteen signers to a step in the order in which they rang, and the others to the next', () => {
    ringAll(SIGNERS.toReversed());
    expect(step(0)).toEqual(SIGNERS.toReversed().slice(0, 16));
    expect(queue.isEmpty).toBe(false);
    expect(step(0)).toEqual(SIGNERS.toReversed().slice(16));
    expect(queue.isEmpty).toBe(true);
    expect(step(0)).toEqual([]);
  });

  it('keeps the place of a signer that rings again, and names it once', () => {
    ringAll([ONE, TWO, ONE]);
    expect(step(0)).toEqual([ONE, TWO]);
  });

  it('puts a signer that rings during its step at the end', () => {
    ringAll(SIGNERS);
    queue.take(0);
    queue.ring(ONE);
    expect(queue.take(0)).toEqual([...SIGNERS.slice(16), ONE]);
  });
});

describe('a signer that failed while others succeeded', () => {
  beforeEach(() => {
    ringAll([ONE, TWO]);
    step(0, [ONE]);
  });

  it('is left out until its pause has passed, and has to ring again after it', () => {
    ringAll([ONE, TWO]);
    expect(step(999)).toEqual([TWO]);
    expect(queue.isEmpty).toBe(true);
    queue.ring(ONE);
    expect(step(1_000)).toEqual([ONE]);
  });

  it('steps alone, and every other step at most is for one of its kind', () => {
    ringAll([TWO, THREE]);
    step(0, [THREE]);
    ringAll([...SIGNERS]);
    expect(queue.take(60_000)).toEqual([ONE]);
    queue.threw([ONE], 60_000);
    expect(queue.take(120_000)).toHaveLength(16);
    expect(queue.take(120_000)).toEqual([THREE]);
    expect(queue.take(120_000)).toEqual([SIGNERS[18], SIGNERS[19]]);
  });

  it('steps with the others again once it succeeded', () => {
    queue.ring(ONE);
    expect(step(1_000)).toEqual([ONE]);
    ringAll([ONE, TWO]);
    expect(step(1_000)).toEqual([ONE, TWO]);
  });

  it.each([
    [2, 2_000],
    [3, 4_000],
    [6, 32_000],
    [7, 60_000],
    [20, 60_000],
  ])('has a pause after failure %d of %d ms', (failures, pauseMs) => {
    let now = 0;
    for (let n = 1; n < failures; n += 1) {
      now += 60_000;
      queue.ring(ONE);
      step(now, [ONE]);
    }
    queue.ring(ONE);
    expect(queue.take(now + pauseMs - 1)).toEqual([]);
    queue.ring(ONE);
    expect(queue.take(now + pauseMs)).toEqual([ONE]);
  });

  it('begins with the shortest pause again after a success', () => {
    queue.ring(ONE);
    step(1_000);
    queue.ring(ONE);
    step(1_000, [ONE]);
    queue.ring(ONE);
    expect(queue.take(2_000)).toEqual([ONE]);
  });
});

describe('a step that failed as a whole', () => {
  it('rings for all of its share again, and they step alone, at once and in turns', () => {
    ringAll([ONE, TWO]);
    queue.threw(queue.take(0), 0);
    expect(queue.isEmpty).toBe(false);
    expect(queue.take(0)).toEqual([ONE]);
    expect(queue.take(0)).toEqual([TWO]);
  });

  it.each([
    [1, 100],
    [2, 200],
    [5, 1_600],
    [6, 2_000],
    [50, 2_000],
  ])('makes the worker rest: failure %d in a row for %d ms', (failures, restMs) => {
    ringAll([ONE, TWO]);
    for (let n = 0; n < failures; n += 1) queue.threw(queue.take(0), 0);
    expect(queue.restMs(0)).toBe(restMs);
    expect(queue.restMs(restMs - 1)).toBe(1);
    expect(queue.restMs(restMs + 1)).toBe(0);
  });

  it('is the trouble of the only signer of its share, when others succeeded just before', () => {
    ringAll([TWO]);
    step(0);
    ringAll([ONE]);
    queue.threw(queue.take(0), 0);
    expect(queue.isEmpty).toBe(true);
    ringAll([ONE]);
    expect(queue.take(999)).toEqual([]);
  });

  it('is nobody’s own trouble while nothing succeeds, also when it was one signer’s step', () => {
    ringAll([ONE, TWO]);
    queue.threw(queue.take(0), 0);
    queue.threw(queue.take(0), 0);
    expect(queue.take(0)).toEqual([TWO]);
    expect(queue.take(0)).toEqual([ONE]);
  });

  it('rests no longer, and begins anew, once a step succeeds', () => {
    ringAll([ONE, TWO]);
    for (let n = 0; n < 5; n += 1) queue.threw(queue.take(0), 0);
    step(0);
    expect(queue.restMs(0)).toBe(0);
    ringAll([TWO, THREE]);
    queue.threw([TWO, THREE], 0);
    expect(queue.restMs(0)).toBe(100);
  });
});
