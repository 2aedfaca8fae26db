import { expect, it } from '@jest/globals';
import { outcomeOf, retryWaitMs } from '../../../src/modules/webhooks/domain/retries.js';
import { OK } from './webhook-fakes.js';

it.each([
  [200, null, 'delivered'],
  [204, null, 'delivered'],
  [299, null, 'delivered'],
  [199, null, 'failed'],
  [302, 'redirect: no', 'failed'],
  [200, 'timeout: late', 'failed'],
  [null, 'connection: refused', 'failed'],
  [404, null, 'failed'],
  [410, null, 'gone'],
])('status %p with the error %p is %s', (status, error, outcome) => {
  expect(outcomeOf({ ...OK, status, error })).toBe(outcome);
});

it('pauses double from 5 seconds to 6 hours, of which chance takes up to a quarter', () => {
  const pauses = [0, 1, 2, 12, 13, 40].map((tries) => retryWaitMs({ ...OK, status: 500 }, tries, 1) / 1_000);
  expect(pauses).toEqual([5, 10, 20, 20_480, 21_600, 21_600]);
  expect(retryWaitMs({ ...OK, status: 500 }, 0, 0)).toBe(3_750);
});

it.each([
  [429, 90_000, 90_000],
  [503, 90_000, 90_000],
  [429, 0, 1_000],
  [429, null, 5_000],
  [500, 90_000, 5_000],
])('after status %p with Retry-After %p ms the pause is %p ms', (status, retryAfterMs, waitMs) => {
  expect(retryWaitMs({ ...OK, status, retryAfterMs }, 0, 1)).toBe(waitMs);
});
