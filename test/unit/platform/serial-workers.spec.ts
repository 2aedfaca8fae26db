import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SerialWorkers } from '../../../src/platform/scheduling/serial-workers.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Two keys that different workers get. */
function strangers(workers: SerialWorkers): [string, string] {
  for (let i = 1; i < 100; i++) if (workers.workerOf(`k${i}`) !== workers.workerOf('k0')) return ['k0', `k${i}`];
  throw new Error('all keys went to one worker');
}

describe('serial workers', () => {
  it('run the tasks of one key one after the other, in order, whatever the keys are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), turns: fc.nat(3), fails: fc.boolean() })),
        async (concurrency, tasks) => {
          const workers = new SerialWorkers(concurrency);
          const inside = new Map<string, number>();
          const order = new Map<string, number[]>();
          const runs = tasks.map(({ key, turns, fails }, index) =>
            workers.run(key, async () => {
              expect(inside.get(key) ?? 0).toBe(0);
              inside.set(key, 1);
              order.set(key, [...(order.get(key) ?? []), index]);
              for (let i = 0; i < turns; i++) await turn();
              inside.set(key, 0);
              if (fails) throw new Error('task');
              return index;
            }),
          );
          const outcomes = await Promise.allSettled(runs);
          await workers.idle();
          expect(workers.depth()).toBe(0);
          expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(tasks.map(({ fails }) => fails));
          for (const indexes of order.values()) expect(indexes).toEqual([...indexes].sort((a, b) => a - b));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('do not let one key hold up a key of another worker', async () => {
    const workers = new SerialWorkers(4);
    const [slow, quick] = strangers(workers);
    let release = (): void => undefined;
    const hung = workers.run(slow, () => new Promise<void>((resolve) => (release = resolve)));
    await expect(workers.run(quick, async () => 'done')).resolves.toBe('done');
    expect(workers.depth()).toBe(1);
    release();
    await hung;
  });

  it('map a key to the same worker for ever, and use all of them', () => {
    const workers = new SerialWorkers(8);
    const used = new Set(
      Array.from({ length: 200 }, (_, i) => workers.workerOf(`1:0x${i.toString(16).padStart(40, '0')}`)),
    );
    expect(used.size).toBe(8);
    // Fixed values of FNV-1a: a change of the hash is a change of who works beside whom.
    expect(new SerialWorkers(1_000_000).workerOf('a')).toBe(0xe40c292c % 1_000_000);
    expect(new SerialWorkers(1_000_000).workerOf('foobar')).toBe(0xbf9cf968 % 1_000_000);
  });

  it('run one task for each worker with all of its items in order', async () => {
    const workers = new SerialWorkers(3);
    const items = Array.from({ length: 30 }, (_, i) => i);
    const groups: number[][] = [];
    await workers.runGrouped(
      items,
      (item) => `k${item % 7}`,
      async (group) => void groups.push(group),
    );
    expect(groups.length).toBeLessThanOrEqual(3);
    expect(groups.flat().sort((a, b) => a - b)).toEqual(items);
    for (const group of groups) {
      expect(group).toEqual([...group].sort((a, b) => a - b));
      expect(new Set(group.map((item) => workers.workerOf(`k${item % 7}`))).size).toBe(1);
    }
  });

  it('tell of failures only after every group has ended', async () => {
    const workers = new SerialWorkers(4);
    const [bad, good] = strangers(workers);
    let ended = false;
    const run = workers.runGrouped(
      [bad, good],
      (key) => key,
      async ([key]) => {
        if (key === bad) throw new Error('bad');
        for (let i = 0; i < 5; i++) await turn();
        ended = true;
      },
    );
    await expect(run).rejects.toMatchObject({ errors: [{ message: 'bad' }] });
    expect(ended).toBe(true);
    await expect(workers.run(bad, async () => 'alive')).resolves.toBe('alive');
  });

  it('are idle only when what was added meanwhile is done too', async () => {
    const workers = new SerialWorkers(2);
    let last = false;
    void workers.run('a', async () => {
      await turn();
      void workers.run('a', async () => {
        await turn();
        last = true;
      });
    });
    await workers.idle();
    expect(last).toBe(true);
  });

  it('go on after a task that throws before it returns a promise', async () => {
    const workers = new SerialWorkers(1);
    const thrown = workers.run('a', () => {
      throw new Error('at once');
    });
    await expect(thrown).rejects.toThrow('at once');
    await expect(workers.run('a', async () => 1)).resolves.toBe(1);
    expect(workers.depth()).toBe(0);
  });
});
