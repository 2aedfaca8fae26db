import { expect, it } from '@jest/globals';
import { AtMost } from '../../../src/platform/scheduling/at-most.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('runs so many at once, the others in their order, and a failed one gives its place on', async () => {
  const [begun, ends]: [number[], ((error?: Error) => void)[]] = [[], []];
  const limit = new AtMost(2);
  const task = (n: number) => () => {
    begun.push(n);
    return new Promise<number>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve(n)));
    });
  };
  const all = Promise.allSettled([1, 2, 3, 4].map((n) => limit.run(task(n))));
  await turn();
  expect(begun).toEqual([1, 2]);
  ends[1]?.(new Error('no'));
  await turn();
  expect(begun).toEqual([1, 2, 3]);
  ends[0]?.();
  ends[2]?.();
  await turn();
  ends[3]?.();
  expect((await all).map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual([1, 'failed', 3, 4]);
  const fifth = limit.run(task(5));
  await turn();
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  ends[4]?.();
  expect(await fifth).toBe(5);
});
