import { expect, it } from '@jest/globals';
import { Places } from '../../../src/modules/webhooks/domain/places.js';

it('counts what is taken, by endpoint and in total', () => {
  const places = new Places(8);
  for (const id of ['a', 'a', 'b']) places.take(id);
  places.leave('b');
  expect([places.total, [...places.taken(0)]]).toEqual([2, [['a', 2]]]);
});

it('an endpoint that rests has no free place until its time, the latest that it asked for', () => {
  const places = new Places(8);
  places.take('a');
  places.rest('a', 100);
  places.rest('a', 50);
  expect([...places.taken(99)]).toEqual([['a', 8]]);
  expect([...places.taken(100)]).toEqual([['a', 1]]);
});
