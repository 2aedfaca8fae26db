import { describe, expect, it } from '@jest/globals';
import { LanePace } from '../../../src/modules/lanes/infrastructure/lane-queue.js';

function paceAt(load: number): LanePace {
  return new LanePace(() => load);
}

describe('the pace of a lane', () => {
  it('lets the first step of a lane start at once, however busy the process is', () => {
    expect(paceAt(1).restOf('lane', 0)).toBe(0);
  });

  it('lets every step start at once while the process has time', () => {
    const pace = paceAt(0.5);
    pace.stepped('lane', 1_000);
    expect(pace.restOf('lane', 1_000)).toBe(0);
  });

  it('lets work gather when the process has none, for longer the busier it is, and never for long', () => {
    const rests = [0.7, 0.85, 1].map((load) => {
      const pace = paceAt(load);
      pace.stepped('lane', 1_000);
      return pace.restOf('lane', 1_000);
    });
    expect(rests).toEqual([...rests].sort((a, b) => a - b));
    expect(new Set(rests).size).toBe(3);
    expect(Math.max(...rests)).toBeLessThanOrEqual(1_000);
  });

  it('counts the rest from the end of the step, and each lane by itself', () => {
    const pace = paceAt(1);
    pace.stepped('lane', 1_000);
    expect(pace.restOf('lane', 1_100)).toBe(pace.restOf('lane', 1_000) - 100);
    expect(pace.restOf('lane', 2_000)).toBe(0);
    expect(pace.restOf('other', 1_000)).toBe(0);
  });
});
