import { beforeEach, expect, it } from '@jest/globals';
import { FeedLab } from './feed-lab.js';

let lab: FeedLab;
beforeEach(() => {
  lab = new FeedLab();
});

it('the first start begins at the beginning of the log, or at its end', async () => {
  lab.reader.add(1, 1);
  await lab.hold.execute();
  expect(lab.claim.place?.seq).toBe(0n);

  const other = new FeedLab();
  other.config.startAt = 'end';
  other.reader.add(1, 1);
  await other.hold.execute();
  expect(other.claim.place?.seq).toBe(2n);
});

it('a later start goes on where the last one was, whatever startAt says', async () => {
  await lab.started(1, 1);
  await lab.feed.execute();
  await lab.claim.release();
  lab.reader.add(1);
  const next = lab.another('second');
  next.config.startAt = 'end';
  await next.hold.execute();
  expect(next.claim.place?.seq).toBe(2n);
});

it('a node that reaches no broker leaves the claim to another one while it rests', async () => {
  await lab.started(1);
  lab.sink.refuses = '1';
  await lab.feed.execute();
  await lab.hold.execute();
  expect(lab.cursor.claimedBy).toBeNull();
  const other = lab.another('second');
  await other.hold.execute();
  lab.sink.refuses = null;
  await other.feed.execute();
  expect(lab.sink.got).toEqual(['1']);
});

it('every node measures what the broker does not have', async () => {
  await lab.started(1);
  const other = lab.another('second');
  await other.hold.execute();
  expect(other.claim.place).toBeNull();
  const lag = (['broker_lag_events', 'broker_behind_seconds'] as const).map((name) => other.metrics.values(name));
  expect(lag).toEqual([[3], [1.5]]);
});

it('a start that fails is tried again: the feed begins all the same', async () => {
  const begin = lab.cursor.begin.bind(lab.cursor);
  lab.cursor.begin = () => Promise.reject(new Error('the database is away'));
  await expect(lab.hold.execute()).rejects.toThrow('away');
  lab.cursor.begin = begin;
  await lab.hold.execute();
  expect(lab.claim.place).not.toBeNull();
});
