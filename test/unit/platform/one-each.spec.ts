import { expect, it } from '@jest/globals';
import { OneEach } from '../../../src/platform/scheduling/one-each.js';

it('runs one task of each, and so many in all; a failed one gives its place back', async () => {
  const limit = new OneEach(2);
  const ends: ((error?: Error) => void)[] = [];
  const task = () =>
    new Promise<string>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve('done')));
    });
  const [a, b] = [limit.run('a', task), limit.run('b', task)];
  expect([limit.isRunning('a'), limit.isRunning('c')]).toEqual([true, false]);
  expect([limit.run('a', task), limit.run('c', task), ends.length]).toEqual([null, null, 2]);
  ends[0]?.(new Error('no'));
  await expect(a).rejects.toThrow('no');
  expect([limit.run('b', task), limit.isRunning('a')]).toEqual([null, false]);
  const again = limit.run('a', task);
  for (const end of ends) end();
  expect([await b, await again]).toEqual(['done', 'done']);
});
