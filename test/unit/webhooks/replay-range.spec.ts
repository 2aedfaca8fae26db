import { beforeEach, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { type EventPage, type EventPosition, EventReader, EventTimes } from '../../../src/modules/events/index.js';
import { ReplayRange } from '../../../src/modules/webhooks/application/replay-range.js';
import { DeliveryLog } from '../../../src/modules/webhooks/domain/delivery-log.js';
import type { Match } from '../../../src/modules/webhooks/domain/fan-out-log.js';
import { anEndpoint, aPublicEvent, AT, FakeEndpoints } from './webhook-fakes.js';

const place = (seq: number): EventPosition => ({ xid: 7n, seq: BigInt(seq), part: 9 });
const minutes = (n: number): Date => new Date(AT.getTime() + n * 60_000);

class Pages extends EventReader {
  readonly asked: EventPosition[] = [];
  pages: EventPage[] = [];

  override async page(after: EventPosition): Promise<EventPage> {
    this.asked.push(after);
    return this.pages.shift() ?? { events: [], next: after, hasMore: false, isHeldBack: false };
  }
  override pageIn(): Promise<EventPage> {
    return this.page(place(0));
  }
  override async knows(): Promise<boolean> {
    return true;
  }
  override async end(): Promise<EventPosition> {
    return place(99);
  }
}

class Times extends EventTimes {
  readonly asked: Date[] = [];
  override async before(time: Date): Promise<EventPosition> {
    this.asked.push(time);
    return place(1);
  }
}

class Log extends DeliveryLog {
  readonly inserted: Match[] = [];
  override async list(): Promise<[]> {
    return [];
  }
  override async find(): Promise<null> {
    return null;
  }
  override async replay(): Promise<boolean> {
    return false;
  }
  override async replayDead(): Promise<number> {
    return 0;
  }
  override async insertOrRepeat(matches: readonly Match[]): Promise<number> {
    this.inserted.push(...matches);
    return matches.length;
  }
}

let [pages, times, log, endpoints] = [new Pages(), new Times(), new Log(), new FakeEndpoints()];
let replay: ReplayRange;

beforeEach(async () => {
  [pages, times, log, endpoints] = [new Pages(), new Times(), new Log(), new FakeEndpoints()];
  await endpoints.add({ ...anEndpoint({ id: 'one', types: ['tx.accepted'] }), secret: 's' });
  replay = new ReplayRange(endpoints, pages, times, log);
});

const event = (seq: number, minute: number, type: 'tx.accepted' | 'tx.failed' = 'tx.accepted') =>
  aPublicEvent(seq, { time: minutes(minute), type });
const range = { since: minutes(0), until: minutes(10) };

it('takes the events of the time that the endpoint wants, a minute of disorder allowed', async () => {
  const events = [event(1, -1), event(2, 0), event(3, 5, 'tx.failed'), event(4, 10.5), event(5, 10)];
  pages.pages = [
    { events, next: place(5), hasMore: true, isHeldBack: false },
    { events: [event(6, 9), event(7, 12)], next: place(7), hasMore: true, isHeldBack: false },
  ];
  expect(await replay.execute('one', ANYONE, range, null, 10_000)).toEqual({ replayed: 3, hasMore: false, next: null });
  expect(log.inserted.map(({ event: { position } }) => Number(position.seq))).toEqual([2, 5, 6]);
  expect(times.asked).toEqual([minutes(-1)]);
  expect(pages.asked).toEqual([place(1), place(5)]);
});

it('ends at its limit and says where to go on', async () => {
  pages.pages = [{ events: [event(1, 1)], next: place(5), hasMore: true, isHeldBack: false }];
  expect(await replay.execute('one', ANYONE, range, null, 500)).toEqual({ replayed: 1, hasMore: true, next: place(5) });
  await replay.execute('one', ANYONE, range, place(5), 500);
  expect(pages.asked.at(-1)).toEqual(place(5));
});

it('reads no more than 100 pages for one request, even if the endpoint wants none of their events', async () => {
  pages.pages = Array.from({ length: 300 }, (_, n) => ({
    events: [event(n, 1, 'tx.failed')],
    next: place(n + 1),
    hasMore: true,
    isHeldBack: false,
  }));
  expect(await replay.execute('one', ANYONE, range, null, 10_000)).toEqual({
    replayed: 0,
    hasMore: true,
    next: place(100),
  });
  expect(pages.asked.length).toBe(100);
});

it('is for enabled endpoints', async () => {
  await endpoints.disable('one', 'gone');
  await expect(replay.execute('one', ANYONE, range, null, 9)).rejects.toMatchObject({ code: 'webhook_disabled' });
  await expect(replay.execute('two', ANYONE, range, null, 9)).rejects.toMatchObject({ code: 'webhook_not_found' });
});
