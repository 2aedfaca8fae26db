import { beforeEach, expect, it } from '@jest/globals';
import { LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { FeedLab } from './feed-lab.js';

let lab: FeedLab;
beforeEach(() => {
  lab = new FeedLab();
});

it('a claim lasts ten seconds after its last renewal', async () => {
  await lab.started(1);
  lab.clock.advance(9_999);
  await lab.hold.execute();
  lab.clock.advance(9_999);
  expect(lab.claim.place).not.toBeNull();
  lab.clock.advance(1);
  expect(lab.claim.place).toBeNull();
});

it('a claim that takes long to get is shorter by that time', async () => {
  const claim = lab.cursor.claim.bind(lab.cursor);
  lab.cursor.claim = (node) => {
    lab.clock.advance(4_000);
    return claim(node);
  };
  await lab.started(1);
  lab.clock.advance(5_999);
  expect(lab.claim.place).not.toBeNull();
  lab.clock.advance(1);
  expect(lab.claim.place).toBeNull();
});

it('a renewal that was read before the cursor moved does not move this node back', async () => {
  await lab.started(1, 1);
  const claim = lab.cursor.claim.bind(lab.cursor);
  lab.cursor.claim = async (node) => {
    const stale = await claim(node);
    await lab.feed.execute();
    return stale;
  };
  await lab.hold.execute();
  expect(lab.claim.place?.seq).toBe(2n);
});

it('a renewal takes over a place that a person changed', async () => {
  await lab.started(1, 1);
  await lab.feed.execute();
  lab.cursor.place = LOG_BEGINNING;
  await lab.hold.execute();
  expect(lab.claim.place).toEqual(LOG_BEGINNING);
});
