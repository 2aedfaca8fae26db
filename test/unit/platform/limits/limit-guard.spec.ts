import { expect, it } from '@jest/globals';
import { requestsIn } from '../../../../src/platform/limits/limit-guard.js';

it.each<[unknown, number]>([
  [null, 1],
  ['text', 1],
  [{}, 1],
  [{ items: [] }, 1],
  [{ items: [1, 2, 3] }, 3],
  [{ items: 3 }, 1],
  [{ count: 20 }, 20],
  [{ count: 100 }, 100],
  [{ count: 1e9 }, 100],
  [{ count: 0 }, 1],
  [{ count: -5 }, 1],
  [{ count: Number.NaN }, 1],
  [{ count: '20' }, 1],
])('the body %j counts as so many requests: each item of a batch, and each nonce that is reserved', (body, count) => {
  expect(requestsIn(body)).toBe(count);
});
