import { expect, it } from '@jest/globals';
import { DueFloors } from '../../../src/modules/webhooks/infrastructure/due-floors.js';
import { answeringDatabase } from '../../support/fakes/answering-database.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

it('a read that took long is followed by a rest, however often another one is asked for', async () => {
  const clock = new FakeClock();
  const begun: number[] = [];
  const slow = answeringDatabase(async () => {
    begun.push(clock.monotonicMs());
    clock.advance(10);
    return [];
  });
  const floors = new DueFloors(slow, clock, { pause: async (ms) => clock.advance(ms) });
  for (let n = 0; n < 3; n += 1) {
    await floors.ofWaiting();
    floors.expire();
  }
  const [first = 0] = begun;
  expect(begun.map((at) => at - first)).toEqual([0, 100, 200]);
});
