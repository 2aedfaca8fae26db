import { describe, expect, it } from '@jest/globals';
import { Sweep } from '../../../src/modules/retention/application/delete-old.js';

const HOUR_MS = 3_600_000;

describe('a sweep', () => {
  it('goes on where the last batch ended', () => {
    const sweep = new Sweep('first');
    expect(sweep.next(0)).toBe('first');
    sweep.passed('second', true);
    expect(sweep.next(2 * HOUR_MS)).toBe('second');
  });

  it('goes on at the end, too, and begins anew an hour after it began', () => {
    const sweep = new Sweep('first');
    sweep.next(0);
    sweep.passed('end', false);
    expect(sweep.next(HOUR_MS - 1)).toBe('end');
    sweep.passed('later', false);
    expect(sweep.next(HOUR_MS)).toBe('first');
    sweep.passed('end', false);
    expect(sweep.next(2 * HOUR_MS - 1)).toBe('end');
  });
});
