import { expect, it } from '@jest/globals';
import { Portion } from '../../../src/platform/scheduling/portion.js';

const fails = (): Promise<never> => Promise.reject(new Error('too slow'));

it('a Portion is halved by each failure down to one, and doubled by each success up to its most', async () => {
  const portion = new Portion(10);
  const sizes: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    await expect(portion.take(fails)).rejects.toThrow('too slow');
    sizes.push(portion.size);
  }
  for (let n = 0; n < 5; n += 1) sizes.push(await portion.take(async (size) => size));
  expect(sizes).toEqual([5, 2, 1, 1, 1, 1, 2, 4, 8, 10]);
});
