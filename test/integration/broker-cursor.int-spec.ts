import { beforeEach, describe, expect, it } from '@jest/globals';
import { PgFeedCursor } from '../../src/modules/broker/infrastructure/pg-feed-cursor.js';
import { behindRow, LOG_BEGINNING } from '../../src/modules/events/index.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const cursor = new PgFeedCursor(stored.node.database);
const MINUTE_MS = 60_000;
const at = (xid: number, seq: number) => behindRow(BigInt(xid), BigInt(seq));
const expire = () => stored.lab.observer.run(`UPDATE event_reader SET claimed_until = clock_timestamp()`);

describe('the cursor of the broker', () => {
  it('begins once', async () => {
    expect(await cursor.hasBegun()).toBe(false);
    await cursor.begin(at(5, 6));
    await cursor.begin(LOG_BEGINNING);
    expect(await cursor.hasBegun()).toBe(true);
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
  });

  it('cannot be claimed before it has begun', async () => {
    await stored.put('event_reader', { name: 'webhooks', xid: '1', seq: 1 });
    expect(await cursor.hasBegun()).toBe(false);
    expect(await cursor.claim('first', MINUTE_MS)).toBeNull();
    await cursor.begin(at(5, 6));
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
  });
});

describe('a claim', () => {
  beforeEach(() => cursor.begin(at(5, 6)));

  it('is for one node, which can renew it', async () => {
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
    expect(await cursor.claim('second', MINUTE_MS)).toBeNull();
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
  });

  it('of two nodes at once is given to one', async () => {
    const nodes = Array.from({ length: 10 }, (_, n) => `node ${n}`);
    const claims = await Promise.all(nodes.map((node) => cursor.claim(node, MINUTE_MS)));
    expect(claims.filter((claim) => claim !== null).length).toBe(1);
  });

  it('passes to another node when it has run out or was released', async () => {
    await cursor.claim('first', MINUTE_MS);
    await expire();
    expect(await cursor.claim('second', MINUTE_MS)).not.toBeNull();
    await cursor.release('first');
    expect(await cursor.claim('first', MINUTE_MS)).toBeNull();
    await cursor.release('second');
    expect(await cursor.claim('first', MINUTE_MS)).not.toBeNull();
  });

  it('lasts as long as was said', async () => {
    await cursor.claim('first', MINUTE_MS);
    const [row] = await stored.lab.observer.run<{ left: number }>(
      `SELECT extract(epoch FROM claimed_until - clock_timestamp())::float8 AS left FROM event_reader`,
    );
    expect(row?.left).toBeGreaterThan(50);
    expect(row?.left).toBeLessThanOrEqual(60);
  });
});

describe('a move', () => {
  beforeEach(async () => {
    await cursor.begin(at(5, 6));
    await cursor.claim('first', MINUTE_MS);
  });

  it('goes forward for the node that has the claim, also when it has just run out', async () => {
    expect(await cursor.move('first', at(5, 6), at(5, 7))).toBe(true);
    await expire();
    expect(await cursor.move('first', at(5, 7), at(6, 1))).toBe(true);
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(6, 1));
  });

  it('is refused to every other node', async () => {
    expect(await cursor.move('second', at(5, 6), at(9, 9))).toBe(false);
    await expire();
    await cursor.claim('second', MINUTE_MS);
    expect(await cursor.move('first', at(5, 6), at(9, 9))).toBe(false);
    expect(await cursor.claim('second', MINUTE_MS)).toEqual(at(5, 6));
  });

  it('never goes back', async () => {
    expect(await cursor.move('first', at(5, 6), at(5, 5))).toBe(false);
    expect(await cursor.move('first', at(5, 6), at(4, 9))).toBe(false);
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
  });

  it('begins where the cursor is', async () => {
    expect(await cursor.move('first', at(5, 5), at(9, 9))).toBe(false);
    expect(await cursor.move('first', at(6, 6), at(9, 9))).toBe(false);
    expect(await cursor.claim('first', MINUTE_MS)).toEqual(at(5, 6));
  });

  it('leaves the cursors of other readers where they are', async () => {
    await stored.put('event_reader', { name: 'webhooks', xid: '1', seq: 1, claimed_by: 'first' });
    await cursor.move('first', at(5, 6), at(9, 9));
    await cursor.claim('first', MINUTE_MS);
    await cursor.release('first');
    const rows = await stored.lab.observer.run(
      `SELECT xid::text, claimed_by FROM event_reader WHERE name = 'webhooks'`,
    );
    expect(rows).toEqual([{ xid: '1', claimed_by: 'first' }]);
  });
});

describe('the lag', () => {
  const event = (xid: number, age: string) =>
    stored.put('tx_event', {
      xid: String(xid),
      chain_id: 1,
      tx_id: txIdOf(1),
      reason: 'sent',
      to_state: 'IN_MEMPOOL',
      node_id: 'first',
      created_at: `clock_timestamp() - interval '${age}'`,
    });
  const seqs = async () =>
    (await stored.lab.observer.run<{ seq: string }>(`SELECT seq FROM tx_event ORDER BY seq`)).map(({ seq }) =>
      Number(seq),
    );

  it('is nothing before the start, and when all is published', async () => {
    expect(await cursor.lag()).toEqual({ rows: 0, seconds: 0 });
    await event(5, '1 hour');
    await cursor.begin(at(5, (await seqs())[0] ?? 0));
    expect(await cursor.lag()).toEqual({ rows: 0, seconds: 0 });
  });

  it('is the age of the oldest row that is not published, and the number of rows from there', async () => {
    await event(5, '1 hour');
    await event(6, '10 minutes');
    await event(7, '1 minute');
    await cursor.begin(at(5, (await seqs())[0] ?? 0));
    const { rows, seconds } = await cursor.lag();
    expect(rows).toBe(2);
    expect(Math.round(seconds / 60)).toBe(10);
  });
});
