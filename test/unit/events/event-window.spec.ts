import { afterEach, describe, expect, it } from '@jest/globals';
import { EventWindow } from '../../../src/modules/events/application/event-window.js';
import { OldReads } from '../../../src/modules/events/application/old-reads.js';
import { ALL_EVENTS } from '../../../src/modules/events/domain/event-filter.js';
import { RecentEvents } from '../../../src/modules/events/domain/recent-events.js';
import { eventId, type EventPosition, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { aPublicEvent, MemoryEventLog } from '../../support/fakes/memory-event-log.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { NO_REST } from '../../support/fakes/fake-pauses.js';
import { SilentEventBell } from '../../support/fakes/silent-event-bell.js';
import { until } from '../../support/until.js';
import { readableLog } from '../platform/log-lines.js';

class TestBell extends SilentEventBell {
  readonly listeners = new Set<() => void>();
  override listen(heard: () => void): () => void {
    this.listeners.add(heard);
    return () => this.listeners.delete(heard);
  }
  override ring(): void {
    for (const heard of this.listeners) heard();
  }
}

const placeOf = (n: number): EventPosition => aPublicEvent(n).position;
const never = new AbortController().signal;
const windows: EventWindow[] = [];
afterEach(async () => {
  for (const window of windows.splice(0)) await window.onModuleDestroy();
});

function aWindow() {
  const [log, bell, { log: words, lines }] = [new MemoryEventLog(), new TestBell(), readableLog()];
  const window = new EventWindow(log, new OldReads(log, new FakeClock(), NO_REST), bell, words);
  windows.push(window);
  return { log, bell, window, lines };
}

/** With one follower, after its first read. */
async function aFollowedWindow(first = 5) {
  const parts = aWindow();
  for (let n = 1; n <= first; n += 1) parts.log.add(aPublicEvent(n));
  const unfollow = parts.window.follow(() => undefined);
  await until('the window has read', async () => parts.log.reads === 1);
  return { ...parts, unfollow };
}

describe('the window of new events', () => {
  it('reads nothing while nobody follows', async () => {
    const { bell, log, window, unfollow } = await aFollowedWindow();
    unfollow();
    await until('it stops listening', async () => bell.listeners.size === 0);
    bell.ring();
    expect(log.reads).toBe(1);
    await window.read(placeOf(5), ALL_EVENTS);
    expect(log.reads).toBe(2);
  });

  it('serves many clients from one read, as soon as the bell rings', async () => {
    const { log, bell, window } = await aFollowedWindow();
    const waiting = Array.from({ length: 100 }, () => window.beyond(placeOf(5), 60_000, never));
    log.add(aPublicEvent(6));
    bell.ring();
    await Promise.all(waiting);
    const pages = await Promise.all(waiting.map(() => window.read(placeOf(5), ALL_EVENTS)));
    expect(pages.map(({ events }) => events.length)).toEqual(waiting.map(() => 1));
    expect(log.reads).toBe(2);
  });

  it('reads without the bell, too', async () => {
    const { log, window } = await aFollowedWindow();
    log.add(aPublicEvent(6));
    await window.beyond(placeOf(5), 60_000, never);
    expect((await window.read(placeOf(5), ALL_EVENTS)).events.length).toBe(1);
  });

  it('sends a client whose place is older to the database, until it is inside', async () => {
    const { log, window } = await aFollowedWindow();
    const page = await window.read(placeOf(2), ALL_EVENTS);
    expect([page.events.length, log.reads]).toEqual([3, 2]);
    expect(await window.read(page.next, ALL_EVENTS)).toMatchObject({ events: [], hasMore: false });
    expect(log.reads).toBe(2);
  });

  it('reads again soon, and then less and less often, while events are held back', async () => {
    const { log, bell, window } = await aFollowedWindow();
    log.isHeldBack = true;
    bell.ring();
    const startedAt = performance.now();
    await until('it has read six times', async () => log.reads >= 6);
    // Without the doubling, six reads take 100 ms; with pauses of a second they take five seconds.
    expect(performance.now() - startedAt).toBeGreaterThan(400);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    log.add(aPublicEvent(6));
    log.isHeldBack = false;
    await window.beyond(placeOf(5), 60_000, never);
  });

  it('goes on when the database is back, and says once that it was away', async () => {
    const { log, bell, window, lines } = await aFollowedWindow();
    log.isAway = true;
    for (const reads of [2, 3]) {
      bell.ring();
      await until('it has tried', async () => log.reads >= reads);
    }
    log.isAway = false;
    log.add(aPublicEvent(6));
    bell.ring();
    await window.beyond(placeOf(5), 60_000, never);
    expect(lines.map(({ msg }) => msg)).toEqual(['failed to read new events']);
  });

  it('lets a client wait until its signal or its time, and not longer', async () => {
    const { window } = await aFollowedWindow();
    await window.beyond(placeOf(5), 1, never);
    const left = new AbortController();
    const waiting = window.beyond(placeOf(5), 60_000, left.signal);
    left.abort();
    await waiting;
    await window.beyond(placeOf(5), 60_000, left.signal);
  });

  it('ends with the application', async () => {
    const { window, bell, log } = await aFollowedWindow();
    await window.onModuleDestroy();
    window.follow(() => undefined);
    bell.ring();
    expect([bell.listeners.size, log.reads]).toEqual([0, 1]);
  });
});

describe('the newest events in memory', () => {
  const pageOf = (...ns: readonly number[]) => ({
    events: ns.map((n) => aPublicEvent(n)),
    next: { ...placeOf(ns.at(-1) ?? 0), part: 9 },
  });

  it('are cut into pages', () => {
    const recent = new RecentEvents(LOG_BEGINNING);
    recent.add(pageOf(1, 2, 3));
    const first = recent.after(LOG_BEGINNING, 2);
    expect([first?.events.length, first?.hasMore, eventId(first?.next ?? LOG_BEGINNING)]).toEqual([2, true, '2-2-0']);
    const second = recent.after(placeOf(2), 2);
    expect([second?.events.length, second?.hasMore, eventId(second?.next ?? LOG_BEGINNING)]).toEqual([
      1,
      false,
      '3-3-9',
    ]);
  });

  it('never take a client back that has read further', () => {
    const recent = new RecentEvents(LOG_BEGINNING);
    recent.add(pageOf(1));
    expect(recent.after(placeOf(7), 2)).toMatchObject({ events: [], next: placeOf(7), hasMore: false });
  });

  it.each([
    ['count', { events: 2, bytes: 1_000_000 }],
    ['bytes', { events: 1_000, bytes: 250 }],
  ])('are bounded in %s: who is behind the oldest is sent away', (_bound, most) => {
    const recent = new RecentEvents(LOG_BEGINNING, most);
    recent.add(pageOf(1, 2, 3, 4));
    expect(recent.after(placeOf(1), 10)).toBeNull();
    expect(recent.after(placeOf(2), 10)?.events.length).toBe(2);
  });
});
