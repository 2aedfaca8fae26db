import { beforeEach, describe, expect, it } from '@jest/globals';
import { OldReads } from '../../../src/modules/events/application/old-reads.js';
import { ALL_EVENTS, type EventFilter } from '../../../src/modules/events/domain/event-filter.js';
import { type EventPage, type EventPosition, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import type { Pauses } from '../../../src/platform/scheduling/pause.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { NO_REST } from '../../support/fakes/fake-pauses.js';
import { aPublicEvent, MemoryEventLog } from '../../support/fakes/memory-event-log.js';

/** A log each of whose reads ends when the test says so. */
class SlowLog extends MemoryEventLog {
  readonly asked: { readonly from: number; readonly filter: EventFilter | undefined }[] = [];
  readonly running: ((failed?: Error) => void)[] = [];

  override page(after: EventPosition, limit: number, filter?: EventFilter): Promise<EventPage> {
    this.asked.push({ from: Number(after.xid), filter });
    return new Promise((resolve, reject) => {
      this.running.push((failed) => (failed === undefined ? resolve(super.page(after, limit)) : reject(failed)));
    });
  }

  get froms(): number[] {
    return this.asked.map(({ from }) => from);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const place = (n: number): EventPosition => aPublicEvent(n).position;
const ofSigner = (n: number): EventFilter => ({ ...ALL_EVENTS, signer: aSigner(n).address });

let clock: FakeClock;
let log: SlowLog;
let reads: OldReads;
beforeEach(() => {
  clock = new FakeClock();
  log = new SlowLog();
  reads = new OldReads(log, clock, NO_REST);
});

async function untilAnswered(answers: readonly Promise<unknown>[]): Promise<void> {
  const ended = { all: false };
  void Promise.allSettled(answers).then(() => (ended.all = true));
  while (!ended.all) {
    await turn();
    expect(log.running.length).toBeLessThanOrEqual(2);
    log.running.shift()?.();
  }
}

it('clients far from each other read two pages at a time, and each gets its turn', async () => {
  const far = (n: number, page: number) => place(n * 10_000 + page);
  const pages: number[] = [];
  const clients = Array.from({ length: 50 }, async (_, n) => {
    for (let page = 0; page < 3; page += 1) {
      await reads.page(far(n, page), ALL_EVENTS);
      pages.push(page);
    }
  });
  await untilAnswered(clients);
  // Every second read takes turns: when the last client has its first page, the others together have at most as many again.
  expect(pages.lastIndexOf(0)).toBeLessThan(100);
  expect(log.asked).toHaveLength(150);
});

describe('clients at the same place', () => {
  it('who want the same share one read, also when they are two', async () => {
    const own = { ...ALL_EVENTS, signer: aSigner().address };
    log.add(aPublicEvent(1), aPublicEvent(2));
    // Keeps the readers busy while the others come.
    const busy = [reads.page(place(500_000), ALL_EVENTS), reads.page(place(900_000), ALL_EVENTS)];
    const both = [reads.page(LOG_BEGINNING, own), reads.page(LOG_BEGINNING, own)];
    await untilAnswered([...busy, ...both]);
    for (const page of await Promise.all(both)) expect(page.events.map(({ data }) => data['n'])).toEqual([1, 2]);
    expect(log.froms).toEqual([500_000, 900_000, 0]);
    expect(log.asked[2]?.filter).toEqual(own);
  });

  it('and a few who want others, or are elsewhere in the same page, read for themselves', async () => {
    const busy = [reads.page(place(500_000), ALL_EVENTS), reads.page(place(900_000), ALL_EVENTS)];
    const few = [0, 1, 2].map((n) => reads.page(LOG_BEGINNING, ofSigner(n)));
    await untilAnswered([...busy, ...few]);
    expect(log.froms).toEqual([500_000, 900_000, 0, 0, 0]);
  });

  it('and many of them, share one read; each gets its own events, from its own place on', async () => {
    const signers = Array.from({ length: 20 }, (_, n) => aSigner(n).address);
    for (let n = 1; n <= 60; n += 1) log.add(aPublicEvent(n, { signer: aSigner(n % 20).address }));
    const busy = [reads.page(place(500_000), ALL_EVENTS), reads.page(place(900_000), ALL_EVENTS)];
    const many = signers.map((_, n) => reads.page(place(n), ofSigner(n)));
    const all = reads.page(place(58), ALL_EVENTS);
    await untilAnswered([...busy, ...many, all]);
    const seen = await Promise.all(many);
    // Signer n has rows n (but for 0), n + 20, n + 40; its client has seen row n.
    expect(seen.map(({ events }) => events.map(({ data }) => data['n']))).toEqual(
      signers.map((_, n) => (n === 0 ? [20, 40, 60] : [n + 20, n + 40])),
    );
    expect((await all).events.map(({ data }) => data['n'])).toEqual([59, 60]);
    expect(seen.every(({ next }) => next.seq === 60n)).toBe(true);
    expect(log.froms).toEqual([500_000, 900_000, 0]);
    expect(log.asked[2]?.filter?.signer).toBeNull();
  });

  it('who are beyond the end of the page that was read get a read of their own', async () => {
    log.add(aPublicEvent(1));
    const busy = [reads.page(place(500_000), ALL_EVENTS), reads.page(place(900_000), ALL_EVENTS)];
    const first = Array.from({ length: 10 }, () => reads.page(LOG_BEGINNING, ALL_EVENTS));
    const ahead = reads.page(place(30), ALL_EVENTS);
    await untilAnswered([...busy, ...first, ahead]);
    expect((await ahead).next).toEqual(place(30));
    expect(log.froms).toEqual([500_000, 900_000, 0, 30]);
  });
});

it('who is furthest back reads on while the others take turns, so that clients meet', async () => {
  for (let n = 1; n <= 9_000; n += 1) log.add(aPublicEvent(n));
  const client = async (from: EventPosition) => {
    for (let after = from, more = true; more;) {
      const page = await reads.page(after, ALL_EVENTS);
      after = page.next;
      more = page.hasMore;
    }
  };
  const clients = Array.from({ length: 400 }, (_, n) => client(place(20 * n)));
  await untilAnswered(clients);
  // Each for itself: 400 clients, five pages on average.
  expect(log.asked.length).toBeLessThan(60);
});

it('a read that fails is told to all who wait for it, and gives its turn to the next', async () => {
  const failing = [1, 2].map((n) => reads.page(place(n * 10_000), ALL_EVENTS));
  const sharing = reads.page(place(20_000), ALL_EVENTS);
  const ended = Promise.allSettled(failing);
  for (const end of log.running.splice(0)) end(new Error('away'));
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turn();
  log.running.shift()?.();
  expect(await sharing).toMatchObject({ events: [] });
});

it('a reader rests seven times as long as its read and the answers took, a second at most', async () => {
  /** Rests that end when the test says so, with their length in milliseconds. */
  const rests: { readonly ms: number; readonly end: () => void }[] = [];
  const held: Pauses = { pause: (ms) => (ms === 0 ? turn() : new Promise((end) => void rests.push({ ms, end }))) };
  reads = new OldReads(log, clock, held);
  const answers = [1, 2].map((n) => reads.page(place(n * 10_000), ALL_EVENTS));
  // What the client does with its events takes as long as the read.
  void answers[0]?.then(() => clock.advance(20));
  for (const ms of [20, 5_000]) {
    clock.advance(ms);
    log.running.shift()?.();
    await turn();
    await turn();
  }
  expect(rests.map(({ ms }) => ms)).toEqual([280, 1_000]);
  const third = reads.page(LOG_BEGINNING, ALL_EVENTS);
  await turn();
  expect(log.running).toEqual([]);
  rests.shift()?.end();
  await turn();
  log.running.shift()?.();
  expect(await third).toMatchObject({ events: [] });
});
