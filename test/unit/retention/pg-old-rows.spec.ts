import { expect, it } from '@jest/globals';
import { EventsConfig } from '../../../src/config/index.js';
import { PgOldEntries, PgOldEvents, PgOldTxs } from '../../../src/modules/retention/infrastructure/pg-old-rows.js';
import type { Database } from '../../../src/platform/database/database.js';

const KEPT = Object.assign(new EventsConfig(), { retention: 1 });

/** A database that answers each statement with the next row. */
function answering(...rows: object[]): Database {
  const query = async (): Promise<object> => ({ rows: rows.splice(0, 1) });
  const transaction = (work: (tx: object) => unknown): unknown => work({ query });
  return { query, transaction } as unknown as Database;
}

it('a run goes on after a full page of old events, although one of them had to stay', async () => {
  const full = answering({ taken: true }, { deleted: 4_999, old: 5_000, xid: '7', seq: '9' });
  expect(await new PgOldEvents(full, KEPT).deleteBehind('1:2')).toEqual({
    next: '7:9',
    hasMore: true,
    deleted: { tx_event: 4_999 },
  });
});

it('a run ends with a page that is not full, and stays in its place when nothing is old', async () => {
  const last = answering({ taken: true }, { deleted: 4_999, old: 4_999, xid: '7', seq: '9' });
  expect(await new PgOldEvents(last, KEPT).deleteBehind('1:2')).toMatchObject({ next: '7:9', hasMore: false });
  const none = answering({ taken: true }, { deleted: 0, old: 0, xid: null, seq: null });
  expect(await new PgOldEvents(none, KEPT).deleteBehind('1:2')).toMatchObject({ next: '1:2', hasMore: false });
});

it('another node that deletes has the turn', async () => {
  expect(await new PgOldEvents(answering({ taken: false }), KEPT).deleteBehind('1:2')).toBeNull();
});

/** A database that gives up each statement about more than so many rows. */
function givingUpAbove(most: number, asked: number[]): Database {
  const query = async (_statement: object, values: unknown[]): Promise<object> => {
    if (values.length === 1) return { rows: [{ taken: true }] };
    const rows = Math.max(...values.filter((value) => typeof value === 'number'));
    asked.push(rows);
    if (rows > most) throw new Error('canceling statement due to statement timeout');
    return { rows: [{ deleted: rows, old: rows, looked_at: rows, xid: '7', seq: '9', last: 'id' }] };
  };
  return { transaction: (work: (tx: object) => unknown) => work({ query }) } as unknown as Database;
}

it.each([
  ['events', PgOldEvents, 5_000],
  ['transactions', PgOldTxs, 500],
  ['entries', PgOldEntries, 5_000],
])('a batch of %s that is too slow is halved, and the rest still follows', async (_kind, Old, batch) => {
  const asked: number[] = [];
  const old = new Old(givingUpAbove(batch / 4, asked), KEPT);
  for (let n = 0; n < 2; n += 1) await expect(old.deleteBehind(old.beginning)).rejects.toThrow('timeout');
  expect(await old.deleteBehind(old.beginning)).toMatchObject({ hasMore: true });
  expect(asked).toEqual([batch, batch / 2, batch / 4]);
});
