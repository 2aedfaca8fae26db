import { PassThrough } from 'node:stream';
import { beforeEach, expect, it } from '@jest/globals';
import { EventsConfig } from '../../../src/config/lockstep-config.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { EventWindow } from '../../../src/modules/events/application/event-window.js';
import { ALL_EVENTS } from '../../../src/modules/events/domain/event-filter.js';
import { type EventPage, type EventPosition, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { frameOf, openingFrame, placeFrame } from '../../../src/modules/events/infrastructure/http/event-frames.js';
import { EventStream } from '../../../src/modules/events/infrastructure/http/event-stream.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aPublicEvent } from '../../support/fakes/memory-event-log.js';

const [FIRST, OTHER, LAST] = [aPublicEvent(1), aPublicEvent(2, { chainId: 9 }), aPublicEvent(3)];

let output: PassThrough;
let leaving: AbortController;
let pages: (EventPage | Error)[];
/** Places from which pages were read. */
let read: EventPosition[];

beforeEach(() => {
  [output, leaving, pages, read] = [new PassThrough(), new AbortController(), [], []];
});

/** Streams until all pages are read and the stream waits for more. @returns what the client got */
async function stream(config: Partial<EventsConfig> = {}, chainId: number | null = null): Promise<string> {
  const window = fakeOf(EventWindow, {
    read: async (after) => {
      read.push(after);
      const page = pages.shift();
      if (page instanceof Error) throw page;
      return page ?? { events: [], next: after, hasMore: false, isHeldBack: false };
    },
    beyond: async () => {
      if (pages.length === 0) leaving.abort();
    },
  });
  const filter = { ...ALL_EVENTS, chainId };
  const options = { window, config: Object.assign(new EventsConfig(), config), filter, after: LOG_BEGINNING, output };
  await new EventStream({ ...options, signal: leaving.signal }).run();
  return String(output.read());
}

const page = (events: EventPage['events'], hasMore: boolean): EventPage => ({
  events,
  next: events.at(-1)?.position ?? LOG_BEGINNING,
  hasMore,
  isHeldBack: false,
});

it('EventStream sends its place first, then page after page what passes the filter', async () => {
  pages = [page([FIRST, OTHER], true), page([LAST], false)];
  const text = await stream({}, FIRST.chainId);
  expect(text).toBe(openingFrame(LOG_BEGINNING) + frameOf(FIRST) + frameOf(LAST));
  expect(read).toEqual([LOG_BEGINNING, OTHER.position]);
});

it('EventStream tells an idle client its place', async () => {
  pages = [page([FIRST], false)];
  expect(await stream({ heartbeat: 0 })).toBe(
    openingFrame(LOG_BEGINNING) + frameOf(FIRST) + placeFrame(FIRST.position),
  );
});

it('EventStream goes on from its place when the database was away', async () => {
  pages = [page([FIRST], true), new Unavailable('database_unavailable', 'away', 'wait'), page([LAST], false)];
  const text = await stream();
  expect(text).toBe(openingFrame(LOG_BEGINNING) + frameOf(FIRST) + frameOf(LAST));
  expect(read).toEqual([LOG_BEGINNING, FIRST.position, FIRST.position]);
});

it('EventStream fails with what is no outage', async () => {
  pages = [new TypeError('a bug')];
  await expect(stream()).rejects.toThrow('a bug');
});
