import { describe, expect, it } from '@jest/globals';
import { readingAhead } from '../../../src/kernel/reading-ahead.js';

describe('reading ahead', () => {
  it('reads the next one while one is used, and uses them in order', async () => {
    const steps: string[] = [];
    await readingAhead(
      [1, 2, 3],
      async (item) => {
        steps.push(`read ${item}`);
        return item;
      },
      async (item) => {
        steps.push(`use ${item}`);
        await Promise.resolve();
        steps.push(`used ${item}`);
      },
    );
    expect(steps).toEqual(['read 1', 'read 2', 'use 1', 'used 1', 'read 3', 'use 2', 'used 2', 'use 3', 'used 3']);
  });

  it('stops at what cannot be used, and tells why', async () => {
    const used: number[] = [];
    const outcome = readingAhead(
      [1, 2, 3],
      async (item) => {
        if (item === 2) throw new Error('cannot be read');
        return item;
      },
      async (item) => {
        used.push(item);
        throw new Error('cannot be used');
      },
    );
    await expect(outcome).rejects.toThrow('cannot be used');
    expect(used).toEqual([1]);
  });

  it('stops at what cannot be read', async () => {
    const used: number[] = [];
    const outcome = readingAhead(
      [1, 2, 3],
      (item) => (item === 2 ? Promise.reject(new Error('cannot be read')) : Promise.resolve(item)),
      async (item) => void used.push(item),
    );
    await expect(outcome).rejects.toThrow('cannot be read');
    expect(used).toEqual([1]);
  });
});
