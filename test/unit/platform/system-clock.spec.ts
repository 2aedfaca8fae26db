import { expect, it } from '@jest/globals';
import { SystemClock } from '../../../src/platform/system-clock.js';

it('the monotonic clock never goes back', () => {
  const clock = new SystemClock();
  const readings = Array.from({ length: 1000 }, () => clock.monotonicMs());
  expect(readings).toEqual([...readings].sort((a, b) => a - b));
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1000);
});
