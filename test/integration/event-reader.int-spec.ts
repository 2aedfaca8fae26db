import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  eventId,
  type EventPage,
  type EventPosition,
  LOG_BEGINNING,
  type TxEvent,
} from '../../src/modules/events/index.js';
import { ALL_EVENTS } from '../../src/modules/events/domain/event-filter.js';
import { PgEventLog } from '../../src/modules/events/infrastructure/pg-event-log.js';
import { PgEventReader } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import type { PgTx } from '../../src/platform/database/pg-tx.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { SilentEventBell } from '../support/fakes/silent-event-bell.js';
import { gate } from '../support/gate.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { until } from '../support/until.js';

const stored = await storedRows();
const { database } = stored.node;
const log = new PgEventLog(new SilentEventBell());
const reader = new PgEventReader(database);
const author = { nodeId: 'first', tokenFor: () => 1n };

const event = (n: number, hash: number, more: Partial<TxEvent> = {}): TxEvent => ({
  signer: aSigner(),
  txId: txIdOf(n),
  reason: 'sent',
  from: 'ALLOCATED',
  to: 'IN_MEMPOOL',
  txHash: aHash(hash),
  ...more,
});
const write = (tx: PgTx, ...events: readonly TxEvent[]) => log.append(tx, author, events);
const commit = (...events: readonly TxEvent[]) => database.transaction((tx) => write(tx, ...events));

const unfinished: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const finish of unfinished.splice(0)) await finish();
});

/** A database transaction that has its id, and waits before it writes. */
async function openTransaction(work: (tx: PgTx) => Promise<void>): Promise<{ finish(): Promise<void> }> {
  const [begun, mayWrite] = [gate(), gate()];
  const done = database.transaction(async (tx) => {
    await tx.query({ name: 'test_take_xid', text: 'SELECT pg_current_xact_id()' }, []);
    begun.open();
    await mayWrite.opened;
    await work(tx);
  });
  await begun.opened;
  const finish = async (): Promise<void> => {
    mayWrite.open();
    await done;
  };
  unfinished.push(finish);
  return { finish };
}

/** All that can be read now, in pages. */
async function readAll(after: EventPosition = LOG_BEGINNING, limit = 3) {
  const events: EventPage['events'][number][] = [];
  let page: EventPage;
  let place = after;
  do {
    page = await reader.page(place, limit);
    events.push(...page.events);
    place = page.next;
  } while (page.hasMore);
  return { events, next: place, isHeldBack: page.isHeldBack };
}

/** Tests of other files write to other databases of the same server, and hold readers back, too. */
async function readUntil(count: number, after?: EventPosition, limit?: number) {
  let read = await readAll(after, limit);
  await until(
    `${count} events can be read`,
    async () => {
      read = await readAll(after, limit);
      return read.events.length >= count;
    },
    10_000,
  );
  return read;
}

const hashes = (events: EventPage['events']) => events.map(({ data }) => Number(data['txHash'] as string));

describe('a reader', () => {
  it('gets what is in the log in order, in pages of any size, and goes on where it was', async () => {
    await stored.putTx(1);
    for (const n of [1, 2, 3, 4, 5]) await commit(event(1, n), event(1, n + 10));
    const { events, next } = await readUntil(10);
    expect(hashes(events)).toEqual([1, 11, 2, 12, 3, 13, 4, 14, 5, 15]);
    expect(hashes((await readAll(events[3]?.position)).events)).toEqual([3, 13, 4, 14, 5, 15]);
    await commit(event(1, 6));
    expect(hashes((await readUntil(1, next)).events)).toEqual([6]);
    expect((await readUntil(11, LOG_BEGINNING, 1)).events.length).toBe(11);
  });

  it('goes on between two events of one row', async () => {
    await stored.putTx(1);
    await commit(event(1, 7, { reason: 'mined', to: 'MINED', detail: { status: 'success', gasUsed: '1' } }));
    const { events } = await readUntil(2);
    expect(events.map(({ type }) => type)).toEqual(['tx.receipt_updated', 'tx.confirmations']);
    const rest = await readAll(events[0]?.position);
    expect(rest.events.map(({ position }) => eventId(position))).toEqual(
      events.slice(1).map(({ position }) => eventId(position)),
    );
    expect((await readAll(events[1]?.position)).events).toEqual([]);
  });

  it('waits for an older database transaction that commits late, and says so', async () => {
    await stored.putTx(1);
    const place = (await readAll()).next;
    const older = await openTransaction((tx) => write(tx, event(1, 1)));
    await commit(event(1, 2));
    expect(await readAll(place)).toMatchObject({ events: [], isHeldBack: true });
    expect(await reader.end()).toEqual(place);
    await older.finish();
    expect(hashes((await readUntil(2, place)).events)).toEqual([2, 1]);
  });

  it('gets the events of a tx in the order in which they happened, whichever database transaction is older', async () => {
    await stored.putTx(1);
    await stored.putTx(2);
    const older = await openTransaction((tx) => write(tx, event(1, 2)));
    // Holds the readers between the two.
    const between = await openTransaction(async () => undefined);
    await commit(event(1, 1));
    await older.finish();
    expect((await readAll()).events).toEqual([]);
    await between.finish();
    expect(hashes((await readUntil(2)).events)).toEqual([1, 2]);
  });

  it('is not told of fills, nor of what only operators need', async () => {
    await stored.putTx(1);
    await stored.putTx(2, { kind: 'fill' });
    await commit(event(2, 1), event(1, 2, { reason: 'signed' }), event(1, 3, { reason: 'updated' }), event(1, 4));
    expect(hashes((await readUntil(1)).events)).toEqual([4]);
  });

  it('learns after a reorg that the confirmations before are void', async () => {
    await stored.putTx(1);
    const mined = event(1, 1, { reason: 'mined', to: 'MINED' });
    await commit(
      mined,
      event(1, 1, { reason: 'reorg_detected', detail: { newFork: true, confirmations: null } }),
      mined,
    );
    const { events } = await readUntil(5);
    const forks = events
      .filter(({ type }) => type !== 'tx.receipt_updated')
      .map(({ type, data }) => [type, data['newFork']]);
    expect(forks).toEqual([
      ['tx.confirmations', false],
      ['tx.reorged', true],
      ['tx.confirmations', true],
    ]);
  });
});

describe('20 writers that commit after random delays, and 4 readers', () => {
  const TXS = 20;
  const PER_TX = 15;

  /** Writes about one tx, one event after the other, each in a database transaction that is open for a while before or after. */
  async function writer(n: number): Promise<void> {
    for (let at = 0; at < PER_TX; at += 1) {
      await database.transaction(async (tx) => {
        await tx.query({ name: 'test_take_xid', text: 'SELECT pg_current_xact_id()' }, []);
        await pause(Math.random() * 8);
        await tx.query({ name: 'test_lock_tx', text: 'SELECT FROM managed_tx WHERE tx_id = $1 FOR UPDATE' }, [
          txIdOf(1 + (n % (TXS / 2))),
        ]);
        const [{ next } = { next: 0 }] = (
          await tx.query<{ next: number }>(
            { name: 'test_next', text: 'SELECT count(*)::int AS next FROM tx_event WHERE tx_id = $1' },
            [txIdOf(1 + (n % (TXS / 2)))],
          )
        ).rows;
        await write(tx, event(1 + (n % (TXS / 2)), next));
        await pause(Math.random() * 8);
      });
    }
  }

  /** Reads to the end that the log has when all is written; the second life of one that is killed goes on at the place that it kept. */
  async function read(isWritten: () => boolean, dies: boolean): Promise<string[]> {
    const got: string[] = [];
    let place = LOG_BEGINNING;
    for (;;) {
      const isLast = isWritten();
      const page = await reader.page(place, 7);
      // It dies before it has kept the page: the page comes again.
      if (dies && Math.random() < 0.2) continue;
      got.push(
        ...page.events.map(({ position, txId, data }) => `${txId} ${Number(data['txHash'])} ${eventId(position)}`),
      );
      place = page.next;
      if (isLast && !page.hasMore && !page.isHeldBack) return got;
      await pause(Math.random() * 5);
    }
  }

  it('every reader gets every event once, and those of a tx in the order of their commits', async () => {
    for (let n = 1; n <= TXS / 2; n += 1) await stored.putTx(n);
    let isWritten = false;
    const readers = [false, false, false, true].map((dies) => read(() => isWritten, dies));
    await Promise.all(Array.from({ length: TXS }, (_, n) => writer(n)));
    isWritten = true;
    const [first, ...others] = await Promise.all(readers);
    for (const other of others) expect(other).toEqual(first);
    expect(new Set(first).size).toBe(TXS * PER_TX);
    for (let n = 1; n <= TXS / 2; n += 1) {
      const order = (first ?? [])
        .filter((line) => line.startsWith(txIdOf(n)))
        .map((line) => Number(line.split(' ')[1]));
      expect(order).toEqual(Array.from({ length: PER_TX * 2 }, (_, at) => at));
    }
  });
});

it('a page with a filter leaves out rows of other chains, signers and txs, and goes as far as one without', async () => {
  for (const n of [1, 2]) await stored.putTx(n);
  await commit(event(1, 1), event(2, 2), event(1, 3));
  const filters = [
    ALL_EVENTS,
    { ...ALL_EVENTS, txId: txIdOf(2) },
    { ...ALL_EVENTS, signer: aSigner().address },
    { ...ALL_EVENTS, signer: aSigner(9).address },
    { ...ALL_EVENTS, chainId: DEV_CHAIN + 1 },
  ];
  await until('all can be read', async () => (await reader.page(LOG_BEGINNING, 10)).events.length === 3, 20_000);
  const pages = await Promise.all(filters.map((filter) => reader.page(LOG_BEGINNING, 10, filter)));
  expect(pages.map(({ events }) => events.map(({ data }) => Number(data['txHash'])))).toEqual([
    [1, 2, 3],
    [2],
    [1, 2, 3],
    [],
    [],
  ]);
  expect(new Set(pages.map(({ next }) => eventId(next))).size).toBe(1);
});

it('a place is known until its row is old, and not when the database has lost it', async () => {
  await stored.putTx(1);
  await commit(event(1, 1));
  await commit(event(1, 2));
  await until('all can be read', async () => (await reader.page(LOG_BEGINNING, 10)).events.length === 2, 20_000);
  const end = await reader.end();
  expect([await reader.knows(LOG_BEGINNING), await reader.knows(end)]).toEqual([true, true]);
  expect(await reader.knows({ ...end, xid: end.xid + 1_000_000n })).toBe(false);
  // As a standby without the last commit: other database transactions get ids above that of the lost one.
  await stored.lab.observer.run(`DELETE FROM tx_event WHERE seq = ${end.seq}`);
  await commit(event(1, 3));
  expect(await reader.knows(end)).toBe(false);
  await stored.lab.observer.run(`UPDATE tx_event SET created_at = now() - interval '1 hour'`);
  expect(await reader.knows(end)).toBe(true);
});
