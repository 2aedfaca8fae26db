import { beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { type EventPage, type EventPosition, EventReader, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { FanOut } from '../../../src/modules/webhooks/application/fan-out.js';
import { FanOutLog, type Match } from '../../../src/modules/webhooks/domain/fan-out-log.js';
import type { Subscriber } from '../../../src/modules/webhooks/domain/webhook-endpoint.js';
import { aPublicEvent } from './webhook-fakes.js';

const END: EventPosition = { xid: 9n, seq: 9n, part: 9 };

const ALL: Subscriber = {
  id: 'all',
  account: DEFAULT_ACCOUNT,
  callbackOnly: false,
  types: null,
  chainIds: null,
  signers: null,
};

class FakeLog extends FanOutLog {
  heard = true;
  isTaken = false;
  /** The most deliveries that one statement can insert. */
  most = Number.POSITIVE_INFINITY;
  at: EventPosition = LOG_BEGINNING;
  readonly steps: string[] = [];
  readonly inserted: Match[] = [];
  endpoints: Subscriber[] = [ALL, { ...ALL, id: 'failed', types: ['tx.failed'] }];

  override async place(): Promise<EventPosition | null> {
    return this.heard ? this.at : null;
  }
  override async lock(_tx: Tx, place: EventPosition): Promise<boolean> {
    this.steps.push('lock');
    return !this.isTaken && place === this.at;
  }
  override async moveTo(_tx: Tx, place: EventPosition): Promise<void> {
    this.steps.push('move');
    this.at = place;
  }
  override async subscribers(): Promise<readonly Subscriber[]> {
    this.steps.push('subscribers');
    return this.endpoints;
  }
  override async insert(_tx: Tx, matches: readonly Match[]): Promise<void> {
    this.steps.push(`insert ${matches.length}`);
    if (matches.length > this.most) throw new Error('canceling statement due to statement timeout');
    this.inserted.push(...matches);
  }
}

class FakeReader extends EventReader {
  next: EventPage = { events: [], next: END, hasMore: false, isHeldBack: false };
  constructor(private readonly log: FakeLog) {
    super();
  }
  override page(): Promise<EventPage> {
    throw new Error('would wait for the reads of clients');
  }
  override async pageIn(): Promise<EventPage> {
    this.log.steps.push('page');
    return this.next;
  }
  override async knows(): Promise<boolean> {
    return true;
  }
  override async end(): Promise<EventPosition> {
    return END;
  }
}

let log: FakeLog;
let reader: FakeReader;
let fanOut: FanOut;

beforeEach(() => {
  log = new FakeLog();
  reader = new FakeReader(log);
  fanOut = new FanOut({ run: (work) => work({ open: true }) }, reader, log);
});

describe('the fan-out', () => {
  it('inserts a delivery for each event and endpoint that match, then moves its place', async () => {
    const [first, second] = [aPublicEvent(1), aPublicEvent(2, { type: 'tx.failed' })];
    reader.next = { ...reader.next, events: [first, second], hasMore: true };
    expect(await fanOut.execute()).toEqual({ isIdle: false, deliveries: 3, hasMore: true, isHeldBack: false });
    expect(log.inserted).toEqual([
      { event: first, endpointId: 'all' },
      { event: second, endpointId: 'all' },
      { event: second, endpointId: 'failed' },
    ]);
    expect(log.at).toBe(END);
    // An endpoint that is created after the page was read, and before the look for endpoints, gets the page; the other way it would miss events.
    expect(log.steps).toEqual(['page', 'subscribers', 'lock', 'insert 3', 'move']);
  });

  it('moves past rows that nobody gets, and writes nothing when there is nothing new', async () => {
    await fanOut.execute();
    expect([log.inserted, log.at]).toEqual([[], END]);
    log.steps.length = 0;
    reader.next = { ...reader.next, next: END };
    await fanOut.execute();
    expect(log.steps).toEqual(['page', 'subscribers']);
  });

  it('reads no events while nobody subscribes, and writes nothing while another node has the place', async () => {
    log.heard = false;
    expect(await fanOut.execute()).toMatchObject({ isIdle: true });
    expect(log.steps).toEqual([]);
    [log.heard, log.isTaken] = [true, true];
    expect(await fanOut.execute()).toMatchObject({ isIdle: true, deliveries: 0 });
    expect(log.steps).toEqual(['page', 'subscribers', 'lock']);
  });

  it('of thousands of deliveries is many short database transactions, and the place moves with each finished row', async () => {
    log.endpoints = Array.from({ length: 700 }, (_, n) => ({ ...ALL, id: String(n) }));
    reader.next = { ...reader.next, events: [aPublicEvent(1), aPublicEvent(2)] };
    expect(await fanOut.execute()).toMatchObject({ deliveries: 1_400 });
    const inserts = [['insert 500'], ['insert 500', 'move'], ['insert 400', 'move']];
    expect(log.steps).toEqual(['page', 'subscribers', ...inserts.flatMap((steps) => ['lock', ...steps])]);
    expect(new Set(log.inserted.map(({ event, endpointId }) => `${event.position.seq} ${endpointId}`)).size).toBe(
      1_400,
    );
  });

  it('of a page for ten thousand endpoints lets others have the thread in between', async () => {
    log.endpoints = Array.from({ length: 10_000 }, (_, n) => ({ ...ALL, id: String(n), types: ['tx.failed'] }));
    reader.next = { ...reader.next, events: Array.from({ length: 500 }, (_, seq) => aPublicEvent(seq)) };
    let turns = 0;
    const others = setInterval(() => (turns += 1), 1);
    await fanOut.execute();
    clearInterval(others);
    expect(turns).toBeGreaterThan(20);
  });

  it('that is too slow is repeated in halves', async () => {
    log.endpoints = Array.from({ length: 500 }, (_, n) => ({ ...ALL, id: String(n) }));
    log.most = 100;
    reader.next = { ...reader.next, events: [aPublicEvent(1)] };
    for (let n = 0; n < 3; n += 1) await expect(fanOut.execute()).rejects.toThrow('statement timeout');
    expect(log.steps.filter((step) => step.startsWith('insert'))).toEqual(['insert 500', 'insert 250', 'insert 125']);
  });
});
