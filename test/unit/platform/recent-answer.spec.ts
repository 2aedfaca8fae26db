import { beforeEach, describe, expect, it } from '@jest/globals';
import { RecentAnswer } from '../../../src/platform/scheduling/recent-answer.js';
import { mapInTurns } from '../../../src/platform/scheduling/map-in-turns.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const TTL_MS = 1_000;
let asked: { resolve: (answer: number) => void; reject: (error: Error) => void }[];
let clock: FakeClock;
let recent: RecentAnswer<number>;

beforeEach(() => {
  asked = [];
  clock = new FakeClock();
  const ask = (): Promise<number> => new Promise((resolve, reject) => asked.push({ resolve, reject }));
  recent = new RecentAnswer(ask, TTL_MS, clock);
});

describe('a recent answer', () => {
  it('is shared by all who ask while it is awaited, however long that takes', async () => {
    const first = recent.get();
    clock.advance(60 * TTL_MS);
    const second = recent.get();
    asked[0]?.resolve(1);
    expect(await Promise.all([first, second])).toEqual([1, 1]);
    expect(asked).toHaveLength(1);
  });

  it('is given again until its time has passed, which begins with the answer', async () => {
    const first = recent.get();
    clock.advance(TTL_MS);
    asked[0]?.resolve(1);
    await first;
    clock.advance(TTL_MS - 1);
    expect(await recent.get()).toBe(1);
    clock.advance(1);
    const second = recent.get();
    asked[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it('is an error as well, for as long', async () => {
    const first = recent.get();
    asked[0]?.reject(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await expect(recent.get()).rejects.toThrow('no');
    clock.advance(TTL_MS);
    void recent.get();
    expect(asked).toHaveLength(2);
  });
});

describe('mapping in turns', () => {
  /** How many items were mapped whenever others had the thread, and what came of them. */
  async function mapped(
    items: readonly number[],
    map: (item: number, index: number) => number,
    turnMs?: number,
  ): Promise<{ atTurns: number[]; results: number[] }> {
    const atTurns = new Set<number>();
    let count = 0;
    let over = false;
    const watch = (): void => {
      if (over) return;
      atTurns.add(count);
      setImmediate(watch);
    };
    const mapping = mapInTurns(
      items,
      (item, index) => {
        count += 1;
        return map(item, index);
      },
      turnMs,
    );
    watch();
    const results = await mapping;
    over = true;
    return { atTurns: [...atTurns], results };
  }

  it('maps every item, in order, and lets others have the thread after each 32', async () => {
    const items = Array.from({ length: 70 }, (_, n) => n);
    expect(await mapped(items, (item, index) => item + index)).toEqual({
      atTurns: [32, 64],
      results: items.map((item) => 2 * item),
    });
  });

  it('lets others have the thread sooner where items take longer', async () => {
    const slow = (item: number): number => {
      const end = performance.now() + 2;
      while (performance.now() < end);
      return item;
    };
    expect((await mapped([1, 2, 3], slow, 1)).atTurns).toEqual([1, 2]);
  });
});
