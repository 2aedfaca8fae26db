import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import { type EventPage, type EventPosition, EventReader, LOG_BEGINNING } from '../../../src/modules/events/index.js';
import { FanOut } from '../../../src/modules/webhooks/application/fan-out.js';
import { FanOutLog, type Match } from '../../../src/modules/webhooks/domain/fan-out-log.js';
import type { Subscriber } from '../../../src/modules/webhooks/domain/webhook-endpoint.js';
import { aPublicEvent } from './webhook-fakes.js';

const END: EventPosition = { xid: 9n, seq: 9n, part: 9 };

const ALL: Subscriber = { id: 'all', callbackOnly: false, types: null, chainIds: null, signers: null };

class FakeLog extends FanOutLog {
  heard = true;
  at: EventPosition | null = LOG_BEGINNING;
  readonly steps: string[] = [];
  readonly inserted: Match[] = [];
  endpoints: Subscriber[] = [ALL, { ...ALL, id: 'failed', types: ['tx.failed'] }];

  override async skipUnheard(): Promise<boolean> {
    return this.heard;
  }
  override async place(): Promise<EventPosition | null> {
    return this.at;
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
    this.steps.push('insert');
    this.inserted.push(...matches);
  }
}

class FakeReader extends EventReader {
  next: EventPage = { events: [], next: END, hasMore: false, isHeldBack: false };
  constructor(private readonly log: FakeLog) {
    super();
  }
  override async page(): Promise<EventPage> {
    return this.next;
  }
  override async pageIn(): Promise<EventPage> {
    this.log.steps.push('page');
    return this.next;
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
    expect(log.steps).toEqual(['page', 'subscribers', 'insert', 'move']);
  });

  it('moves past rows that nobody gets, and writes nothing when there is nothing new', async () => {
    await fanOut.execute();
    expect([log.inserted, log.at]).toEqual([[], END]);
    log.steps.length = 0;
    reader.next = { ...reader.next, next: END };
    await fanOut.execute();
    expect(log.steps).toEqual(['page', 'subscribers']);
  });

  it('reads no events while nobody subscribes, or while another node has the place', async () => {
    log.heard = false;
    expect(await fanOut.execute()).toMatchObject({ isIdle: true });
    [log.heard, log.at] = [true, null];
    expect(await fanOut.execute()).toMatchObject({ isIdle: true, deliveries: 0 });
    expect(log.steps).toEqual([]);
  });

  it('inserts thousands of deliveries in several statements', async () => {
    log.endpoints = Array.from({ length: 6_000 }, (_, n) => ({ ...ALL, id: String(n) }));
    reader.next = { ...reader.next, events: [aPublicEvent(1)] };
    await fanOut.execute();
    expect(log.steps).toEqual(['page', 'subscribers', 'insert', 'insert', 'move']);
    expect(log.inserted.length).toBe(6_000);
  });
});
