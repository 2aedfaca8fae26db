import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DatabaseConfig } from '../../src/config/lockstep-config.js';
import { LOG_BEGINNING } from '../../src/modules/events/index.js';
import { HorizonWatch } from '../../src/modules/events/infrastructure/horizon-watch.js';
import { PgEventReader } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import { PgHorizon } from '../../src/modules/events/infrastructure/pg-horizon.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, DEV_CHAIN } from '../support/builders.js';
import { FakeClock } from '../support/fakes/fake-clock.js';
import { tickersWith } from '../support/fakes/fake-tickers.js';
import { gate } from '../support/gate.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { until } from '../support/until.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { readableLog } from '../unit/platform/log-lines.js';

const stored = await storedRows();
const reader = new PgEventReader(stored.node.database);
const HELD_BACK = 'events are held back by an open database transaction';

function aWatch() {
  const [clock, metrics, { log, lines }] = [new FakeClock(), new FakeMetrics(), readableLog()];
  const horizon = new PgHorizon(stored.node.database);
  const watch = new HorizonWatch(horizon, clock, log, metrics, tickersWith(log));
  const gauge = (): number => metrics.values('event_readers_held_back_seconds').at(-1) ?? NaN;
  return { clock, watch, gauge, lines };
}

/** An event that was written a minute ago; `xid` is that of the row's own database transaction by default. */
async function putEvent(hash: number, xid = 'pg_current_xact_id()', at = `now() - interval '1 minute'`): Promise<void> {
  await stored.lab.observer.run(
    `INSERT INTO tx_event (xid, chain_id, tx_id, reason, from_state, to_state, node_id, tx_hash, created_at)
     VALUES (${xid}, ${DEV_CHAIN}, '${txIdOf(1)}', 'sent', 'ALLOCATED', 'IN_MEMPOOL', 'first', '${aHash(hash)}', ${at})`,
  );
}

const canRead = async (count: number): Promise<void> =>
  until(
    `${count} events can be read`,
    async () => (await reader.page(LOG_BEGINNING, 100)).events.length === count,
    20_000,
  );

const colleagues: Client[] = [];
afterEach(async () => {
  for (const client of colleagues.splice(0)) await client.end().catch(() => undefined);
});

/** A session of another database of the server, in a transaction that has written. */
async function colleague(): Promise<{ pid: number }> {
  const connectionString = stored.lab.url.replace(/\/[^/]*$/, '/postgres');
  const client = new Client({ connectionString, application_name: 'report of a colleague' });
  client.on('error', () => undefined);
  colleagues.push(client);
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_current_xact_id()');
  return { pid: rows[0]?.pid ?? 0 };
}

describe('readers that are held back', () => {
  it('go on when a session of ours that was abandoned in a transaction is ended by its time-out, which fails cleanly', async () => {
    await stored.putTx(1);
    const config = Object.assign(new DatabaseConfig(), { url: stored.lab.url, statementTimeout: 1_000 });
    const source = await createDataSource(config).initialize();
    const [begun, abandoned] = [gate(), gate()];
    try {
      const lost = new Database(source).transaction(async (tx) => {
        await tx.query({ name: 'test_take_xid', text: 'SELECT pg_current_xact_id()' }, []);
        begun.open();
        await abandoned.opened;
        await tx.query({ name: 'test_late', text: `UPDATE managed_tx SET priority = 7` }, []);
      });
      const outcome = expect(lost).rejects.toMatchObject({ retryable: true });
      await begun.opened;
      await putEvent(1);
      expect((await reader.page(LOG_BEGINNING, 100)).isHeldBack).toBe(true);
      await canRead(1);
      abandoned.open();
      await outcome;
      expect(await stored.read('SELECT priority FROM managed_tx')).toEqual([{ priority: 0 }]);
    } finally {
      abandoned.open();
      await source.destroy();
    }
  });

  it('are told the session of another database that holds them, once a minute, and go on when it is ended', async () => {
    await stored.putTx(1);
    const { watch, lines, clock, gauge } = aWatch();
    const foreign = await colleague();
    const younger = await colleague();
    await putEvent(1);
    // Sessions of other tests on the same server may be older for a moment.
    const said = () => lines.filter(({ msg, pid }) => msg === HELD_BACK && pid === foreign.pid);
    await until(
      'it is named',
      async () => {
        await watch.check();
        return said().length > 0;
      },
      10_000,
    );
    expect(said()[0]).toMatchObject({ application: 'report of a colleague', state: 'idle in transaction' });
    expect(said()[0]).toMatchObject({ database: 'postgres', seconds: expect.any(Number), since: expect.any(String) });
    expect(gauge()).toBeGreaterThan(59);
    expect(lines.map(({ pid }) => pid)).not.toContain(younger.pid);
    clock.advance(59_999);
    await watch.check();
    expect(said().length).toBe(1);
    clock.advance(1);
    await watch.check();
    expect(said().length).toBe(2);
    for (const { pid } of [younger, foreign]) await stored.lab.observer.run(`SELECT pg_terminate_backend(${pid})`);
    await canRead(1);
    await watch.check();
    expect([said().length, gauge()]).toEqual([2, 0]);
  });

  it('are told nothing while everything can be read, or is held back for a moment only', async () => {
    const { watch, lines, gauge } = aWatch();
    await watch.check();
    await stored.putTx(1);
    await putEvent(1);
    await canRead(1);
    await watch.check();
    expect([lines, gauge()]).toEqual([[], 0]);
    const brief = await colleague();
    await putEvent(2, 'pg_current_xact_id()', 'now()');
    await watch.check();
    expect([lines, gauge() > 0]).toEqual([[], true]);
    await stored.lab.observer.run(`SELECT pg_terminate_backend(${brief.pid})`);
  });
});

describe('a log that was restored into another cluster', () => {
  it('is an error that says what to do, and that statement mends the log and its readers', async () => {
    await stored.putTx(1);
    const far = (n: number): string => `(pg_current_xact_id()::text::bigint + 1000000 + ${n})::text::xid8`;
    await putEvent(1, far(1));
    // It began to write before the one above, and was committed after it.
    await putEvent(2, far(30));
    await putEvent(3, far(20));
    const [third] = await stored.read<{ xid: string; seq: string }>(
      'SELECT xid, seq FROM tx_event ORDER BY seq DESC LIMIT 1',
    );
    // Two that wait for an endpoint, as they came.
    await stored.lab.observer.run(
      `INSERT INTO webhook_delivery (endpoint_id, xid, seq, part, tx_id, type, body, event_at, give_up_at)
       SELECT '${txIdOf(9)}', xid, seq, 0, tx_id, 'tx.submitted', '{}', now(), now() FROM tx_event`,
    );
    const old = { xid: BigInt(third?.xid ?? 0), seq: BigInt(third?.seq ?? 0), part: 0 };
    await stored.put('event_reader', { name: 'webhooks', xid: third?.xid ?? '', seq: third?.seq ?? '' });
    const { watch, lines } = aWatch();
    await watch.check();
    await watch.check();
    expect(lines).toMatchObject([
      { level: 'error', msg: 'the event log is that of another database cluster, and cannot be read' },
    ]);
    expect((await reader.page(LOG_BEGINNING, 100)).events).toEqual([]);
    await stored.lab.observer.run(String(lines[0]?.['statement']));
    await canRead(3);
    await watch.check();
    expect(lines.length).toBe(1);
    expect([await reader.knows(old), await reader.knows({ ...old, xid: 1n })]).toEqual([false, true]);
    // What is committed now does not pass what waits: ids of deliveries are those of the log.
    expect(await stored.read('SELECT xid, seq FROM webhook_delivery ORDER BY seq')).toEqual(
      await stored.read('SELECT xid, seq FROM tx_event ORDER BY seq'),
    );
    const [place] = await stored.read<{ xid: string; seq: string }>('SELECT xid, seq FROM event_reader');
    const { events } = await reader.page({ xid: BigInt(place?.xid ?? 0), seq: BigInt(place?.seq ?? 0), part: 9 }, 100);
    // The second one had not been read; the third one is read again.
    expect(events.map(({ data }) => Number(data['txHash'] as string))).toEqual([2, 3]);
  });
});
