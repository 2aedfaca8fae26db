import { expect, it } from '@jest/globals';
import { inSlices } from '../../../src/kernel/in-slices.js';

it.each<[number, number[][]]>([
  [2, [[1, 2], [3, 4], [5]]],
  [5, [[1, 2, 3, 4, 5]]],
  [9, [[1, 2, 3, 4, 5]]],
])('five items in slices of %i', (size, slices) => {
  expect(inSlices([1, 2, 3, 4, 5], size)).toEqual(slices);
});

it('of nothing there are none', () => {
  expect(inSlices([], 3)).toEqual([]);
});
