import { expect, it } from '@jest/globals';
import { Places } from '../../../src/modules/webhooks/domain/places.js';

const at = (id: string | number, host = `${id}.example.com`) => ({ id: String(id), host, url: `https://${host}/hook` });

/** Takes all that the endpoint may have. @returns how many */
function fill(places: Places, endpoint: ReturnType<typeof at>, sharers = 1): number {
  const { most } = places.shareOf(endpoint, sharers, 0);
  for (let n = 0; n < most; n += 1) places.take(endpoint);
  return most;
}

it('an endpoint alone has all its places, and few of them while it fails', () => {
  const places = new Places(64);
  expect(places.shareOf(at('a'), 1, 0)).toEqual({ most: 64, mostIfFailing: 4 });
  expect([fill(places, at('a')), fill(places, at('a')), places.total]).toEqual([64, 0, 64]);
  for (let n = 0; n < 62; n += 1) places.leave(at('a'));
  expect([places.shareOf(at('a'), 1, 0), places.total]).toEqual([{ most: 62, mostIfFailing: 2 }, 2]);
});

it('sixty endpoints that keep all their posts leave places for the next one', () => {
  const places = new Places(64);
  for (let round = 0; round < 100; round += 1) for (let n = 0; n < 60; n += 1) fill(places, at(n));
  expect(places.total).toBeLessThan(4_096);
  expect(places.room).toBe(4_096 - places.total);
  expect(fill(places, at('new'))).toBeGreaterThan(8);
});

it('eight slow endpoints of a host leave places for a ninth, and any endpoint may always have one post', () => {
  const places = new Places(64);
  for (let round = 0; round < 100; round += 1) for (let n = 0; n < 8; n += 1) fill(places, at(n, 'same'), 8);
  expect(places.total).toBeLessThan(256);
  expect(fill(places, at('ninth', 'same'))).toBeGreaterThan(8);
  for (let n = 9; n < 300; n += 1) expect(fill(places, at(n, 'same'))).toBeGreaterThanOrEqual(1);
  expect(fill(places, at('other'))).toBe(64);
});

it('an endpoint that rests has no free place until its time, the latest that it asked for', () => {
  const places = new Places(8);
  places.take(at('a'));
  places.rest(at('a'), 100);
  places.rest(at('a'), 50);
  expect([places.shareOf(at('a'), 1, 99).most, places.shareOf(at('a'), 1, 100).most]).toEqual([0, 7]);
});

it('what one URL asked for does not hold for the next one of the endpoint, nor comes back from a late answer of the old one', () => {
  const places = new Places(8);
  const moved = { ...at('a'), url: `${at('a').url}/new` };
  places.rest(at('a'), 86_400_000);
  expect([places.shareOf(at('a'), 1, 1).most, places.shareOf(moved, 1, 1).most]).toEqual([0, 8]);
  places.rest(moved, 10);
  expect([places.shareOf(moved, 1, 9).most, places.shareOf(moved, 1, 10).most]).toEqual([0, 8]);
  places.rest(at('a'), 86_400_000);
  expect(places.shareOf(moved, 1, 11).most).toBe(8);
});
