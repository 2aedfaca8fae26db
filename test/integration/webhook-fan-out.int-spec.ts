import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { NEXT_XID } from '../../src/modules/events/index.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { Session } from '../support/lab-session.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { PgFanOutLog } from '../../src/modules/webhooks/infrastructure/pg-fan-out-log.js';
import { until } from '../support/until.js';
import { markOf, WebhookLab } from '../support/webhook-lab.js';

const stored = await storedRows();
const lab = new WebhookLab(stored);
const other = new WebhookLab(stored, (await stored.lab.node('third')).database);

const marksOf = async (endpoint: string): Promise<number[]> =>
  (await lab.deliveries(`endpoint_id = '${endpoint}'`)).map(({ body }) => markOf(body));

describe('a new endpoint', () => {
  it('gets what is committed after it, and nothing from before', async () => {
    await stored.putTx(1);
    await lab.commit(1, 1);
    const endpoint = await lab.endpoint();
    await lab.commit(1, 2);
    await lab.fanOutAll();
    expect(await marksOf(endpoint)).toEqual([2]);
  });

  it('gets nothing from before while a transaction of another database of the server holds the log back, and what was in flight', async () => {
    await stored.putTx(1);
    const colleague = await Session.open(stored.lab.url.replace(/\/[^/]*$/, '/postgres'));
    const writer = await stored.lab.session();
    let endpoint = '';
    try {
      await colleague.run('BEGIN');
      await colleague.run('SELECT pg_current_xact_id()');
      await writer.run('BEGIN');
      await writer.run('SELECT pg_current_xact_id()');
      await lab.commit(1, 1);
      // It takes the place of the event above, which is younger than its transaction.
      await writer.run(
        `INSERT INTO tx_event (xid, chain_id, tx_id, reason, to_state, node_id, tx_hash) VALUES (${NEXT_XID}, ${DEV_CHAIN}, '${txIdOf(1)}', 'sent', 'IN_MEMPOOL', 'first', '${aHash(2)}')`,
      );
      endpoint = await lab.endpoint();
      await writer.run('COMMIT');
      await lab.commit(1, 3);
    } finally {
      await colleague.close();
    }
    await lab.fanOutAll();
    expect(await marksOf(endpoint)).toEqual([2, 3]);
  });

  it('gets what is committed after it when there was none for a while', async () => {
    await stored.putTx(1);
    await lab.endpoints.remove(await lab.endpoint(), ANYONE);
    await lab.commit(1, 1);
    await lab.fanOut.execute();
    const endpoint = await lab.endpoint();
    await lab.commit(1, 2);
    await lab.fanOutAll();
    expect(await marksOf(endpoint)).toEqual([2]);
  });

  it('moves no place and makes no delivery for those who are deleted or disabled', async () => {
    await stored.putTx(1);
    const [first, second, third] = [await lab.endpoint(), await lab.endpoint(), await lab.endpoint()];
    await lab.endpoints.remove(first, ANYONE);
    await lab.endpoints.disable(second, 'test');
    await lab.commit(1, 1);
    await lab.fanOutAll();
    await lab.endpoints.change(second, { enabled: true }, ANYONE);
    await lab.commit(1, 2);
    await lab.fanOutAll();
    expect([await marksOf(first), await marksOf(second), await marksOf(third)]).toEqual([[], [2], [1, 2]]);
  });

  it('of a disabled account makes no delivery, and makes them again when it is enabled', async () => {
    const run = (text: string): Promise<unknown> => lab.database.query({ name: '', text }, []);
    const account = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
    await run(`INSERT INTO account (account_id, name, disabled_at) VALUES ('${account}', 'shop', now())`);
    await stored.putTx(1, { account_id: account });
    const endpoint = await lab.endpoint();
    await run(`UPDATE webhook_endpoint SET account_id = '${account}' WHERE endpoint_id = '${endpoint}'`);
    await lab.commit(1, 1);
    await lab.fanOutAll();
    await run(`UPDATE account SET disabled_at = NULL WHERE account_id = '${account}'`);
    await lab.commit(1, 2);
    await lab.fanOutAll();
    // What was committed while nobody subscribed is passed over, as for an endpoint that is disabled.
    expect(await marksOf(endpoint)).toEqual([2]);
  });

  it('is told apart by its filters, and gets the events of requests that name it', async () => {
    await stored.putTx(1);
    const failed = await lab.endpoint({ types: ['tx.failed'] });
    const elsewhere = await lab.endpoint({ chainIds: [DEV_CHAIN + 1] });
    const ours = await lab.endpoint({ chainIds: [DEV_CHAIN], signers: [aSigner().address] });
    const others = await lab.endpoint({ signers: [aSigner(2).address] });
    const named = await lab.endpoint({ callbackOnly: true, types: ['tx.failed'] });
    await stored.putTx(2, { options: JSON.stringify({ speed: 'standard', callback: named }) });
    await lab.commit(1, 1);
    await lab.commit(2, 2);
    await lab.commit(1, 3, { reason: 'failed', to: 'FAILED' });
    await lab.fanOutAll();
    expect(await marksOf(failed)).toEqual([3]);
    expect(await marksOf(elsewhere)).toEqual([]);
    expect(await marksOf(ours)).toEqual([1, 2, 3]);
    expect(await marksOf(others)).toEqual([]);
    expect(await marksOf(named)).toEqual([2]);
  });
});

it('every event becomes one delivery, whichever nodes fan out at the same time, and however many pages it takes', async () => {
  await stored.putTx(1);
  const endpoint = await lab.endpoint();
  for (let n = 0; n < 30; n += 1) {
    await lab.commit(1, n);
    await Promise.all([lab.fanOut.execute(), other.fanOut.execute(), lab.fanOut.execute()]);
  }
  await lab.fanOutAll();
  expect(await marksOf(endpoint)).toEqual(Array.from({ length: 30 }, (_, n) => n));
});

it('many endpoints get their deliveries in many short database transactions, for whose end readers of the log wait', async () => {
  const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;
  for (let n = 1; n <= 8; n += 1) await stored.putTx(n);
  await lab.endpoint();
  await lab.run(`INSERT INTO webhook_endpoint (endpoint_id, url, secret)
    SELECT gen_random_uuid(), 'https://example.com/' || n, '${SECRET}' FROM generate_series(2, 100) n`);
  for (let n = 0; n < 32; n += 1) await lab.commit(1 + (n % 8), n);
  await lab.fanOutAll();
  const [{ rows, most } = { rows: 0, most: 0 }] = await stored.read<{ rows: number; most: number }>(
    `SELECT sum(n)::int AS rows, max(n)::int AS most FROM (SELECT count(*) AS n FROM webhook_delivery GROUP BY xmin::text) t`,
  );
  expect(rows).toBe(3_200);
  expect(most).toBeLessThanOrEqual(500);
}, 30_000);

it('filters are read again only when they have changed', async () => {
  const statements: string[] = [];
  const counting = Object.assign(Object.create(lab.database) as typeof lab.database, {
    query: (...[statement, values]: Parameters<typeof lab.database.query>) => {
      statements.push(statement.name);
      return lab.database.query(statement, values);
    },
  });
  const log = new PgFanOutLog(counting, lab.config);
  const [one, two] = [await lab.endpoint({ signers: [aSigner().address] }), await lab.endpoint()];
  const signersOf = async (id: string) => (await log.subscribers()).find((each) => each.id === id)?.signers;
  expect(await signersOf(one)).toEqual(new Set([aSigner().address]));
  expect(await signersOf(one)).toEqual(new Set([aSigner().address]));
  expect(statements).toEqual(['webhook_subscribers', 'webhook_filters', 'webhook_subscribers']);
  await lab.endpoints.change(one, { signers: [aSigner(2).address] }, ANYONE);
  await lab.endpoints.remove(two, ANYONE);
  expect(await signersOf(one)).toEqual(new Set([aSigner(2).address]));
  expect((await log.subscribers()).map(({ id }) => id)).toEqual([one]);
  expect(statements.filter((name) => name === 'webhook_filters').length).toBe(2);
});

it('a fan-out that dies before its commit leaves neither deliveries nor a new place', async () => {
  await stored.putTx(1);
  const endpoint = await lab.endpoint();
  await lab.commit(1, 1);
  const dying = lab.database.transaction(async (tx) => {
    await tx.query({ name: 'test_fan_out_lock', text: `SELECT FROM event_reader FOR UPDATE` }, []);
    // The event may have to wait first for a write of another test.
    await until('the other node leaves it alone', async () => (await other.fanOut.execute()).isIdle);
    throw new Error('dies');
  });
  await expect(dying).rejects.toThrow('dies');
  await lab.fanOutAll();
  expect(await marksOf(endpoint)).toEqual([1]);
});

it('a delivery has the body of its event, and is due no earlier than one of the same tx that waits', async () => {
  await stored.putTx(1);
  await stored.putTx(2);
  await lab.endpoint();
  await lab.commit(1, 1);
  await lab.fanOutAll();
  await lab.run(`UPDATE webhook_delivery SET due_at = now() + interval '1 hour'`);
  await lab.commit(1, 2);
  await lab.commit(2, 3);
  await lab.fanOutAll();
  const [first, second, third] = await lab.deliveries();
  expect(second?.due_at).toEqual(first?.due_at);
  expect(third?.due_at.getTime()).toBeLessThan(Date.now() + 60_000);
  const body = JSON.parse(first?.body ?? '') as object;
  expect(body).toMatchObject({ type: 'tx.submitted', version: 1, data: { txId: txIdOf(1), state: 'IN_MEMPOOL' } });
  const [{ hours } = { hours: 0 }] = await stored.read<{ hours: number }>(
    `SELECT (extract(epoch FROM give_up_at - event_at) / 3600)::int AS hours FROM webhook_delivery LIMIT 1`,
  );
  expect(hours).toBe(72);
});

it('a delivery is never due before the moment at which it is written, whatever waits in front of it', async () => {
  await stored.putTx(1);
  await lab.endpoint();
  await lab.commit(1, 1);
  await lab.fanOutAll();
  await lab.run(`UPDATE webhook_delivery SET due_at = now() - interval '1 hour'`);
  await lab.commit(1, 2);
  await lab.fanOutAll();
  expect((await lab.deliveries())[1]?.due_at.getTime()).toBeGreaterThan(Date.now() - 60_000);
});

it('while nobody subscribes the place follows the log, and never goes back', async () => {
  await stored.putTx(1);
  await lab.endpoints.remove(await lab.endpoint(), ANYONE);
  await lab.commit(1, 1);
  const place = () => stored.read<{ seq: string }>('SELECT xid, seq FROM event_reader');
  const before = await place();
  await lab.fanOut.execute();
  const after = await place();
  const [last] = await stored.read<{ seq: string }>('SELECT xid, seq FROM tx_event ORDER BY xid DESC LIMIT 1');
  if (after[0]?.seq !== before[0]?.seq) expect(after[0]).toEqual(last);
  await lab.run(`UPDATE event_reader SET xid = '99999999', seq = 1`);
  await lab.fanOut.execute();
  expect((await place())[0]?.seq).toBe('1');
});
