import { beforeEach, expect, it } from '@jest/globals';
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
  const before = lab.cursor.place;
  await lab.feed.execute();
  lab.cursor.claim = async () => before;
  await lab.hold.execute();
  expect(lab.claim.place?.seq).toBe(2n);
});
