import { FakeClock } from '../../support/fakes/fake-clock.js';
import { NO_REST } from '../../support/fakes/fake-pauses.js';
import { describe, expect, it } from '@jest/globals';
import { ListEvents } from '../../../src/modules/events/application/list-events.js';
import { OldReads } from '../../../src/modules/events/application/old-reads.js';
import { ALL_EVENTS } from '../../../src/modules/events/domain/event-filter.js';
import { eventId, LOG_BEGINNING, parseEventId } from '../../../src/modules/events/index.js';
import { aPublicEvent, MemoryEventLog } from '../../support/fakes/memory-event-log.js';

function logOf(count: number): MemoryEventLog {
  const log = new MemoryEventLog();
  for (let n = 1; n <= count; n += 1) log.add(aPublicEvent(n, n % 500 === 0 ? { type: 'tx.confirmed' } : {}));
  return log;
}
const listOf = (log: MemoryEventLog): ListEvents => new ListEvents(log, new OldReads(log, new FakeClock(), NO_REST));
const CONFIRMED = { ...ALL_EVENTS, types: new Set(['tx.confirmed'] as const) };

describe('a page of events', () => {
  it('goes on after the last event that it has', async () => {
    const list = listOf(logOf(5));
    const first = await list.execute(LOG_BEGINNING, ALL_EVENTS, 2);
    expect(first.events.map(({ data }) => data['n'])).toEqual([1, 2]);
    const rest = await list.execute(first.next, ALL_EVENTS, 100);
    expect(rest.events.map(({ data }) => data['n'])).toEqual([3, 4, 5]);
    expect(await list.execute(rest.next, ALL_EVENTS, 100)).toEqual({ events: [], next: rest.next });
  });

  it('without a place is empty, and leads to what happens from now on', async () => {
    const log = logOf(5);
    const list = listOf(log);
    const { events, next } = await list.execute(null, ALL_EVENTS, 100);
    expect(events).toEqual([]);
    log.add(aPublicEvent(6));
    expect((await list.execute(next, ALL_EVENTS, 100)).events.map(({ data }) => data['n'])).toEqual([6]);
  });

  it('reads a bounded number of rows, and advances over events that its filter leaves out', async () => {
    const log = logOf(12_345);
    const list = listOf(log);
    const none = { ...ALL_EVENTS, types: new Set(['tx.dropped'] as const) };
    const page = await list.execute(LOG_BEGINNING, none, 100);
    expect([page.events, eventId(page.next), log.reads]).toEqual([[], '10000-10000-0', 10]);
    expect(eventId((await list.execute(page.next, none, 100)).next)).toBe('12345-12345-0');
  });

  it('with a filter has every event that it matches once', async () => {
    const list = listOf(logOf(12_345));
    const found: unknown[] = [];
    let place = LOG_BEGINNING;
    for (;;) {
      const { events, next } = await list.execute(place, CONFIRMED, 7);
      found.push(...events.map(({ data }) => data['n']));
      if (eventId(next) === eventId(place)) break;
      place = next;
    }
    expect(found).toEqual(Array.from({ length: 24 }, (_, i) => 500 * (i + 1)));
  });
});

describe('the id of an event', () => {
  it.each(['', '1', '1-2', '1-2-3-4', '-1-2-3', '1-2-10', ' 1-2-3', '1-2-3\n', '1e3-2-3', `${'9'.repeat(20)}-1-0`])(
    'is not %p',
    (text) => expect(parseEventId(text)).toBeNull(),
  );

  it('is read back as it was written', () => {
    const position = { xid: 2n ** 63n, seq: 10n ** 18n - 1n, part: 9 };
    expect(parseEventId(eventId(position))).toEqual(position);
  });
});
