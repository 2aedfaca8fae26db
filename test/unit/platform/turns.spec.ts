import { describe, expect, it } from '@jest/globals';
import { Turns } from '../../../src/platform/scheduling/turns.js';

type Item = `${string}${number}`;

/** Due items by actor, as a table would have them; counts what is read. */
class Due {
  readonly reads: { actors: number; perActor: number; rows: number }[] = [];

  constructor(readonly items: Record<string, number>) {}

  readonly read = (actors: readonly string[], perActor: number): Promise<Item[]> => {
    const rows = actors.flatMap((actor) =>
      Array.from({ length: Math.min(perActor, this.items[actor] ?? 0) }, (_, i): Item => `${actor}${i}`),
    );
    this.reads.push({ actors: actors.length, perActor, rows: rows.length });
    return Promise.resolve(rows);
  };
}

const turnsOf = (page: number): Turns<Item> => new Turns<Item>(page, (item) => item.slice(0, 1));

describe('Turns', () => {
  it('gives each actor a share before any gets more, and the rest to those that have more', async () => {
    const due = new Due({ a: 1_000, b: 1, c: 3, d: 0 });
    const taken = await turnsOf(8).take(1, ['a', 'b', 'c', 'd'], due.read);
    expect(taken).toEqual(['a0', 'b0', 'c0', 'a1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('lets one actor have a whole page when nobody else waits', async () => {
    const taken = await turnsOf(5).take(1, ['a', 'b'], new Due({ a: 1_000 }).read);
    expect(taken).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  });

  it('begins behind the actor at which the last page ended', async () => {
    const turns = turnsOf(2);
    const due = new Due({ a: 9, b: 9, c: 9 });
    const actors = ['c', 'a', 'b'];
    const pages = [await turns.take(1, actors, due.read), await turns.take(1, actors, due.read)];
    expect(pages).toEqual([
      ['a0', 'b0'],
      ['c0', 'a0'],
    ]);
  });

  it('keeps the turns of two lists apart', async () => {
    const turns = turnsOf(1);
    const due = new Due({ a: 9, b: 9 });
    await turns.take(1, ['a', 'b'], due.read);
    await expect(turns.take(2, ['a', 'b'], due.read)).resolves.toEqual(['a0']);
    await expect(turns.take(1, ['a', 'b'], due.read)).resolves.toEqual(['b0']);
  });

  it('goes on when the actor at which it ended is gone, and from the front behind the last one', async () => {
    const turns = turnsOf(1);
    const due = new Due({ a: 1, b: 1, c: 1 });
    await turns.take(1, ['a', 'b', 'c'], due.read);
    await turns.take(1, ['a', 'b', 'c'], due.read);
    await expect(turns.take(1, ['a', 'c'], due.read)).resolves.toEqual(['c0']);
    await expect(turns.take(1, ['a', 'c'], due.read)).resolves.toEqual(['a0']);
  });

  it('gives what is left of a page to other actors each time', async () => {
    const turns = turnsOf(8);
    const due = new Due({ a: 9, b: 9, c: 9 });
    const had: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let page = 0; page < 3; page += 1)
      for (const item of await turns.take(1, ['a', 'b', 'c'], due.read))
        had[item.slice(0, 1)] = (had[item.slice(0, 1)] ?? 0) + 1;
    expect(had).toEqual({ a: 8, b: 8, c: 8 });
  });

  it('gives nobody a second share before the last one has its first', async () => {
    const taken = await turnsOf(8).take(1, ['a', 'b', 'c'], new Due({ a: 9, b: 9, c: 1 }).read);
    expect(taken).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('comes to the actors that it has not read yet, although those before them fill each page', async () => {
    const actors = Array.from({ length: 600 }, (_, i) => String.fromCharCode(0x4e00 + i));
    const due = new Due(Object.fromEntries(actors.map((actor, i) => [actor, i < 100 || i >= 500 ? 9 : 0])));
    const turns = turnsOf(101);
    await turns.take(1, actors, due.read);
    const second = await turns.take(1, actors, due.read);
    expect(new Set(second.map((item) => item.slice(0, 1)))).toEqual(new Set(actors.slice(500)));
  });

  it('reads a bounded number of actors and rows in one statement, and nothing for a full page', async () => {
    const actors = Array.from({ length: 1_200 }, (_, i) => String.fromCharCode(0x4e00 + i));
    const busy = new Due(Object.fromEntries(actors.map((actor) => [actor, 1_000_000])));
    await expect(turnsOf(100).take(1, actors, busy.read)).resolves.toHaveLength(100);
    expect(busy.reads).toEqual([{ actors: 500, perActor: 1, rows: 500 }]);
    const idle = new Due({});
    await expect(turnsOf(100).take(1, actors, idle.read)).resolves.toEqual([]);
    expect(idle.reads.map((read) => read.actors)).toEqual([500, 500, 200]);
  });

  it('serves every one of 1,200 actors within 12 pages of 100, although one has a million items', async () => {
    const actors = Array.from({ length: 1_200 }, (_, i) => String.fromCharCode(0x4e00 + i));
    const due = new Due(Object.fromEntries(actors.map((actor, i) => [actor, i === 0 ? 1_000_000 : 1])));
    const turns = turnsOf(100);
    const served = new Set<string>();
    for (let page = 0; page < 12; page += 1)
      for (const item of await turns.take(1, actors, due.read)) served.add(item.slice(0, 1));
    expect(served.size).toBe(1_200);
  });

  it('reads nothing without actors', async () => {
    const due = new Due({ a: 1 });
    await expect(turnsOf(5).take(1, [], due.read)).resolves.toEqual([]);
    expect(due.reads).toEqual([]);
  });
});
