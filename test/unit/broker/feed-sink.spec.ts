import { beforeEach, describe, expect, it } from '@jest/globals';
import { behindRow } from '../../../src/modules/events/index.js';
import { FeedLab } from './feed-lab.js';

let lab: FeedLab;
beforeEach(() => {
  lab = new FeedLab();
});

describe('a node that has the claim', () => {
  it('publishes all events in the order of the log, then moves the cursor', async () => {
    await lab.started(1, 2, 0, 1);
    lab.sink.onPublish = () => expect(lab.cursor.moves).toEqual([]);
    expect(await lab.feed.execute()).toBe('later');
    expect(lab.sink.got).toEqual(['1', '2', '2.1', '4']);
    expect(lab.cursor.moves).toEqual([4n]);
  });

  it('says that there is more after a full page, and goes on behind it', async () => {
    await lab.started(...Array.from({ length: 700 }, () => 1));
    expect(await lab.feed.execute()).toBe('now');
    expect(lab.sink.got.length).toBe(500);
    expect(await lab.feed.execute()).toBe('later');
    expect(lab.sink.got).toEqual(Array.from({ length: 700 }, (_, n) => `${n + 1}`));
  });

  it('passes rows without public events, and does not write when there is nothing', async () => {
    await lab.started(0, 0);
    await lab.feed.execute();
    await lab.feed.execute();
    expect(lab.sink.batches).toEqual([]);
    expect(lab.cursor.moves).toEqual([2n]);
  });

  it('looks again soon when later events are held back', async () => {
    await lab.started(1);
    lab.reader.isHeldBack = true;
    expect(await lab.feed.execute()).toBe('soon');
    expect(lab.sink.got).toEqual(['1']);
  });
});

describe('a place that was set back, by a failover that lost commits or by a person', () => {
  it('is not passed by a node that has published up to a later place', async () => {
    await lab.started(1, 1, 1);
    await lab.feed.execute();
    lab.cursor.place = behindRow(7n, 1n);
    lab.reader.add(1);
    await lab.feed.execute();
    await lab.hold.execute();
    await lab.feed.execute();
    expect(lab.sink.got).toEqual(['1', '2', '3', '4', '2', '3', '4']);
    expect(lab.cursor.place).toEqual(behindRow(7n, 4n));
  });
});

describe('a node without the claim', () => {
  it('publishes nothing', async () => {
    await lab.started(1);
    const other = lab.another('second');
    await other.hold.execute();
    expect(await other.feed.execute()).toBe('later');
    expect(lab.sink.got).toEqual([]);
  });

  it('publishes nothing more when the claim ran out without a renewal', async () => {
    await lab.started(1);
    lab.clock.advance(10_000);
    await lab.feed.execute();
    expect(lab.sink.got).toEqual([]);
  });

  it('does not move the cursor of the node that took over while it published, and stops', async () => {
    await lab.started(1);
    lab.cursor.onMove = () => (lab.cursor.claimedBy = 'second');
    await lab.feed.execute();
    expect(lab.cursor.moves).toEqual([]);
    lab.reader.add(1);
    await lab.feed.execute();
    expect(lab.sink.got).toEqual(['1']);
  });
});

it('a crash between publishing and the cursor publishes again, and loses nothing', async () => {
  await lab.started(1, 1);
  lab.cursor.onMove = () => {
    throw new Error('killed');
  };
  await expect(lab.feed.execute()).rejects.toThrow('killed');
  lab.cursor.onMove = () => undefined;
  lab.cursor.claimedBy = null;
  const next = lab.another('second');
  await next.hold.execute();
  lab.reader.add(1);
  await next.feed.execute();
  expect(lab.sink.got).toEqual(['1', '2', '1', '2', '3']);
  expect(lab.cursor.moves).toEqual([3n]);
});

describe('when the broker refuses an event', () => {
  beforeEach(async () => {
    await lab.started(1, 1, 2, 1);
    lab.sink.refuses = '3.1';
    await lab.feed.execute();
  });

  it('the cursor stops in front of the row of that event, and the claim is free for another node', async () => {
    expect(lab.sink.got).toEqual(['1', '2', '3']);
    expect(lab.cursor.moves).toEqual([2n]);
    expect(lab.cursor.claimedBy).toBeNull();
  });

  it('only the first event is tried again, and the rest when it is taken', async () => {
    lab.clock.advance(1_000);
    lab.sink.refuses = '3';
    await lab.hold.execute();
    await lab.feed.execute();
    lab.clock.advance(2_000);
    lab.sink.refuses = null;
    await lab.hold.execute();
    await lab.feed.execute();
    expect(lab.sink.batches).toEqual([5, 1, 1, 2]);
    expect(lab.sink.got).toEqual(['1', '2', '3', '3', '3.1', '4']);
    expect(lab.cursor.moves).toEqual([2n, 4n]);
  });
});

it('a page without events does not say that the broker takes events again', async () => {
  await lab.started(1);
  lab.sink.refuses = '1';
  await lab.feed.execute();
  const other = lab.another('second');
  await other.hold.execute();
  lab.sink.refuses = null;
  await other.feed.execute();
  await other.claim.release();
  lab.clock.advance(1_000);
  await lab.hold.execute();
  expect(await lab.feed.execute()).toBe('later');
  expect([lab.claim.place?.seq, lab.health.isDown]).toEqual([1n, true]);
});
