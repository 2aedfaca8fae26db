import { expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { ReplayRange } from '../../src/modules/webhooks/application/replay-range.js';
import { parseEventId } from '../../src/modules/events/index.js';
import { PgEventTimes } from '../../src/modules/events/infrastructure/pg-event-times.js';
import { PgDeliveryLog } from '../../src/modules/webhooks/infrastructure/pg-delivery-log.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import { storedRows } from '../support/stored-rows.js';
import { markOf, WebhookLab } from '../support/webhook-lab.js';

const lab = new WebhookLab(await storedRows());
const log = new PgDeliveryLog(lab.database, lab.config, new PgAuditLog(lab.database, lab.database));
const times = new PgEventTimes(lab.database);
const replay = new ReplayRange(lab.endpoints, lab.reader, times, log);
const MINUTE_MS = 60_000;

async function events(tx: number, ...marks: readonly number[]): Promise<void> {
  for (const mark of marks) await lab.commit(tx, mark);
  await lab.fanOutAll();
}

const end = (status: string, where = 'true') =>
  lab.run(`UPDATE webhook_delivery SET status = '${status}', ended_at = now(), tries = 9 WHERE ${where}`);
const waiting = async () => (await lab.deliveries(`status = 'waiting'`)).map(({ body }) => markOf(body));
/** Those whose time for retries has begun anew. */
const lastingRetries = async () =>
  (await lab.deliveries(`give_up_at > now() + interval '1 day'`)).map(({ body }) => markOf(body));
const positionOf = (id = '') => parseEventId(id) ?? { xid: 0n, seq: 0n, part: 0 };

it('deliveries are listed newest first, by status and in pages, and one is shown with its body', async () => {
  await lab.stored.putTx(1);
  const [id, neighbour] = [await lab.endpoint(), await lab.endpoint()];
  await events(1, 1, 2, 3);
  await end('dead', `seq = (SELECT min(seq) FROM webhook_delivery)`);
  await end('delivered', `endpoint_id = '${neighbour}'`);
  const marks = async (...args: Parameters<typeof log.list>) => {
    const found = await log.list(...args);
    return Promise.all(found.map(async ({ eventId }) => markOf((await log.find(id, positionOf(eventId)))?.body ?? '')));
  };
  expect(await marks(id, null, null, 2)).toEqual([3, 2]);
  const [, second] = await log.list(id, null, null, 2);
  expect(await marks(id, null, positionOf(second?.eventId), 2)).toEqual([1]);
  expect([await marks(id, 'dead', null, 9), await marks(id, 'waiting', null, 9)]).toEqual([[1], [3, 2]]);
  expect((await log.list(id, 'dead', null, 9))[0]).toMatchObject({ status: 'dead', dueAt: null, type: 'tx.submitted' });
  expect(await log.find(id, positionOf('1-1-0'))).toBeNull();
});

it('a replay of one makes it due now with its time for retries, and what waits behind it', async () => {
  await lab.stored.putTx(1);
  const [id] = [await lab.endpoint(), await lab.endpoint()];
  await events(1, 1, 2);
  await end('dead', `seq = (SELECT min(seq) FROM webhook_delivery)`);
  await lab.run(`UPDATE webhook_delivery SET due_at = now() + interval '6 hours', give_up_at = now()`);
  const [, oldest] = await log.list(id, null, null, 2);
  expect(await log.replay(id, positionOf(oldest?.eventId), ANYONE)).toBe(true);
  const [first, next] = await lab.deliveries(`endpoint_id = '${id}'`);
  expect(first).toMatchObject({ status: 'waiting', tries: 0 });
  expect(first?.due_at.getTime()).toBeLessThan(Date.now() + MINUTE_MS);
  expect(next?.due_at).toEqual(first?.due_at);
  expect(await lab.deliveries(`give_up_at > now() + interval '1 day'`)).toMatchObject([{ endpoint_id: id }]);
  expect(await lab.deliveries(`due_at < now() + interval '1 hour' AND endpoint_id <> '${id}'`)).toEqual([]);
  expect(await log.replay(id, positionOf('1-1-0'), ANYONE)).toBe(false);
});

it('a replay of the dead takes the oldest, of one endpoint', async () => {
  await lab.stored.putTx(1);
  const [id] = [await lab.endpoint(), await lab.endpoint()];
  await events(1, 1, 2, 3);
  await end('dead');
  await lab.run(`UPDATE webhook_delivery SET give_up_at = now() - interval '1 hour'`);
  expect(await log.replayDead(id, 2, ANYONE)).toBe(2);
  expect(await waiting()).toEqual([1, 2]);
  expect(await lastingRetries()).toEqual([1, 2]);
  expect(await log.replayDead(id, 2, ANYONE)).toBe(1);
  expect(await log.replayDead(id, 2, ANYONE)).toBe(0);
});

it('a replay of a time sends what was delivered, what is dead, and what came while the endpoint was disabled', async () => {
  await lab.stored.putTx(1);
  const id = await lab.endpoint();
  await events(1, 1);
  await lab.endpoints.disable(id, 'test');
  await lab.endpoint();
  await events(1, 2);
  await lab.endpoints.change(id, { enabled: true }, ANYONE);
  await events(1, 3, 4, 5);
  await lab.run(`DELETE FROM webhook_delivery WHERE endpoint_id <> '${id}'`);
  const hours = (mark: number) =>
    `created_at = now() - interval '${mark} hours' WHERE tx_hash = '0x${mark.toString(16).padStart(64, '0')}'`;
  // The first event is the youngest for the clock: places are found by the ids of database transactions.
  for (const [at, mark] of [5, 4, 3, 2, 1].entries())
    await lab.run(`UPDATE tx_event SET ${hours(mark)}`.replace(`'${mark} hours'`, `'${at + 1} hours'`));
  await end('dead', `body LIKE '%03"%'`);
  await end('delivered', `body NOT LIKE '%03"%'`);
  const range = {
    since: new Date(Date.now() - 4.5 * 60 * MINUTE_MS),
    until: new Date(Date.now() - 1.5 * 60 * MINUTE_MS),
  };
  await lab.run(`UPDATE webhook_delivery SET give_up_at = now() - interval '1 hour'`);
  expect(await replay.execute(id, ANYONE, range, null, 10_000)).toEqual({ replayed: 3, hasMore: false, next: null });
  expect(await waiting()).toEqual([2, 3, 4]);
  expect(await lastingRetries()).toEqual([2, 3, 4]);
  expect(await replay.execute(id, ANYONE, range, null, 10_000)).toMatchObject({ replayed: 0 });
  await lab.endpoints.disable(id, 'test');
  await expect(replay.execute(id, ANYONE, range, null, 1)).rejects.toMatchObject({ code: 'webhook_disabled' });
});

it('the place before a time is not far before its events', async () => {
  await lab.stored.putTx(1);
  await lab.endpoint();
  expect(await times.before(new Date())).toMatchObject({ seq: 0n });
  await events(1, 1, 2, 3, 4);
  await lab.run(
    `UPDATE tx_event SET created_at = now() - interval '1 hour' WHERE tx_hash IN ('0x${'1'.padStart(64, '0')}', '0x${'2'.padStart(64, '0')}')`,
  );
  const place = await times.before(new Date(Date.now() - 30 * MINUTE_MS));
  const { events: read } = await lab.reader.page(place, 10);
  expect(read.map(({ data }) => Number(data['txHash']))).toEqual([2, 3, 4]);
  const beginning = await times.before(new Date(0));
  expect((await lab.reader.page(beginning, 10)).events.length).toBe(4);
});
