import { describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/errors.js';
import { isolateFailures } from '../../../src/platform/scheduling/isolate-failures.js';

const ITEMS = Array.from({ length: 16 }, (_, n) => n);

class TimedOut extends Unavailable {
  constructor() {
    super('rpc_unavailable', 'no answer in time', 'try again');
  }
}

/** Work that the bad ones make fail; remembers what was done, and how often it failed. */
function workWith(bad: readonly number[], error: () => Error) {
  const done = new Set<number>();
  const tries = { failed: 0 };
  const run = async (items: readonly number[]): Promise<void> => {
    if (items.some((item) => bad.includes(item))) {
      tries.failed += 1;
      throw error();
    }
    for (const item of items) done.add(item);
  };
  return { done, tries, run };
}

describe.each([
  ['what may pass by itself', () => new TimedOut()],
  ['a bug', () => new Error('a bug')],
])('work of many that fails by %s', (_kind, error) => {
  it.each([[[0]], [[7]], [[15]], [[0, 9]], [[3, 4]], [[5, 10]]])('is done for all but %j', async (bad) => {
    const work = workWith(bad, error);
    const failures = await isolateFailures(ITEMS, work.run);
    expect(failures.map(({ item }) => item).sort((a, b) => a - b)).toEqual(bad);
    expect(work.done.size).toBe(ITEMS.length - bad.length);
  });

  it('is done at once when nothing fails, and never for nobody', async () => {
    const work = workWith([], error);
    expect(await isolateFailures(ITEMS, work.run)).toEqual([]);
    expect(await isolateFailures([], work.run)).toEqual([]);
    expect(work.done.size).toBe(ITEMS.length);
  });

  it('throws when it fails for all', async () => {
    await expect(isolateFailures(ITEMS, workWith(ITEMS, error).run)).rejects.toThrow();
    await expect(isolateFailures([1], workWith([1], error).run)).rejects.toThrow();
  });
});

describe('a chain that is away', () => {
  it('costs three time-outs, however many share the work', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => n);
    const work = workWith(many, () => new TimedOut());
    await expect(isolateFailures(many, work.run)).rejects.toThrow(TimedOut);
    expect(work.tries.failed).toBe(3);
  });

  it('while the work is taken apart ends it after a few more', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => n);
    const work = workWith([...many.slice(1)], () => new TimedOut());
    const failures = await isolateFailures(many, work.run);
    expect(failures).toHaveLength(999);
    expect(work.tries.failed).toBeLessThan(10);
  });
});
