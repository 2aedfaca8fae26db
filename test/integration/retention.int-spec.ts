import { describe, expect, it } from '@jest/globals';
import { EventsConfig, TransactionsConfig } from '../../src/config/lockstep-config.js';
import { LOG_BEGINNING } from '../../src/modules/events/index.js';
import { PgEventReader } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import { DeleteOld } from '../../src/modules/retention/application/delete-old.js';
import { inTurn, PgOldEntries, PgOldEvents, PgOldTxs } from '../../src/modules/retention/infrastructure/pg-old-rows.js';
import { DELETE_TXS } from '../../src/modules/retention/infrastructure/retention.statements.js';
import { NEWEST_FINAL } from '../../src/modules/ledger/infrastructure/pg-mined-txs.js';
import { SystemClock } from '../../src/platform/system-clock.js';
import { aHash, anAddress, aRequest, aSigner, DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { gate } from '../support/gate.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { until } from '../support/until.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { PgTxIntake } from '../../src/modules/ledger/infrastructure/pg-tx-intake.js';

const stored = await storedRows();
const { database } = stored.node;
const DAY_MS = 86_400_000;
const A_DAY = Object.assign(new EventsConfig(), { retention: DAY_MS });
const events = new PgOldEvents(database, A_DAY);
const txs = new PgOldTxs(database, A_DAY);
const entries = new PgOldEntries(database, A_DAY);
const SIGNER = aSigner();

const OLD = `now() - interval '25 hours'`;
const YOUNG = `now() - interval '23 hours'`;

const putEvent = (n: number, more: Parameters<typeof stored.put>[1] = {}) =>
  stored.put('tx_event', {
    chain_id: DEV_CHAIN,
    tx_id: txIdOf(n),
    reason: 'sent',
    to_state: 'IN_MEMPOOL',
    node_id: 'first',
    created_at: OLD,
    ...more,
  });

/** Clients see it without an attempt. */
const QUEUED = { reason: 'queued', to_state: 'PENDING' };

const keptEvents = async (): Promise<number[]> =>
  (await stored.read<{ tx_id: string }>('SELECT tx_id FROM tx_event ORDER BY xid, seq')).map(({ tx_id }) =>
    Number(tx_id.slice(-12)),
  );

/** A reader of the log that has read the first `count` events. */
async function putReader(name: string, count: number): Promise<void> {
  const [last] = await stored.read<{ xid: string; seq: string }>(
    `SELECT xid::text, seq::text FROM tx_event ORDER BY xid, seq LIMIT 1 OFFSET ${count - 1}`,
  );
  await stored.put('event_reader', { name, xid: last?.xid ?? '0', seq: last?.seq ?? '0' });
}

/** Checks something while a database transaction is open, and ends that one in any case. */
async function during(
  transaction: (wait: () => Promise<void>) => Promise<unknown>,
  check: () => Promise<unknown>,
): Promise<void> {
  const [begun, mayEnd] = [gate(), gate()];
  const other = transaction(async () => {
    begun.open();
    await mayEnd.opened;
  });
  try {
    await begun.opened;
    await check();
  } finally {
    mayEnd.open();
    await other;
  }
}

const deleteEvents = (place = events.beginning) => events.deleteBehind(place);

describe('old events', () => {
  it('are deleted, of finished, of unknown txs and of signers; younger ones stay', async () => {
    await stored.putTx(1, { state: 'CONFIRMED' });
    await putEvent(1);
    await putEvent(1, { created_at: YOUNG });
    await putEvent(2);
    await putEvent(3, { tx_id: null, to_state: null, signer: SIGNER.address, reason: 'paused' });
    expect(await deleteEvents()).toMatchObject({ hasMore: false, deleted: { tx_event: 3 } });
    expect(await keptEvents()).toEqual([1]);
  });

  it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED'])('stay while their tx is %s', async (state) => {
    await stored.putTx(1, { state });
    await putEvent(1);
    await putEvent(2);
    await deleteEvents();
    expect(await keptEvents()).toEqual([1]);
  });

  it('stay while a stored reader has not read them: the slowest counts', async () => {
    for (const n of [1, 2, 3, 4]) await putEvent(n);
    await putReader('webhooks', 3);
    await putReader('broker', 2);
    const batch = await deleteEvents();
    expect(await keptEvents()).toEqual([3, 4]);
    await stored.read(`DELETE FROM event_reader WHERE name = 'broker'`);
    await deleteEvents(batch?.next);
    expect(await keptEvents()).toEqual([4]);
  });

  it('stay while a stored reader has read nothing', async () => {
    await putEvent(1);
    await stored.put('event_reader', { name: 'webhooks', xid: '0', seq: 0 });
    await deleteEvents();
    expect(await keptEvents()).toEqual([1]);
  });

  it('go in batches of 5,000, each behind the one before', async () => {
    await stored.read(
      `INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, created_at)
       SELECT 1, '${txIdOf(1)}', 'sent', 'IN_MEMPOOL', 'first', ${OLD} FROM generate_series(1, 5001)`,
    );
    const first = await deleteEvents();
    expect(first).toMatchObject({ hasMore: true, deleted: { tx_event: 5_000 } });
    expect(await deleteEvents(first?.next)).toMatchObject({ hasMore: false, deleted: { tx_event: 1 } });
  });

  it('are not looked at again in front of a place', async () => {
    await stored.putTx(1);
    await putEvent(1);
    await putEvent(2);
    const batch = await deleteEvents();
    await stored.read(`UPDATE managed_tx SET state = 'CANCELLED'`);
    expect(await deleteEvents(batch?.next)).toMatchObject({ next: batch?.next, deleted: { tx_event: 0 } });
    expect(await deleteEvents()).toMatchObject({ deleted: { tx_event: 1 } });
  });

  it('are deleted by one node at a time', async () => {
    await putEvent(1);
    await during(
      (wait) => inTurn(database, 1, wait),
      async () => expect(await deleteEvents()).toBeNull(),
    );
    expect(await deleteEvents()).toMatchObject({ deleted: { tx_event: 1 } });
  });

  it('are gone for a reader who goes on in front of them: it goes on with the oldest that is left', async () => {
    await stored.putTx(1, { state: 'CONFIRMED' });
    await stored.putTx(2);
    await putEvent(1, QUEUED);
    await putEvent(2, QUEUED);
    await deleteEvents();
    const reader = new PgEventReader(database);
    let read: (string | null)[] = [];
    // Open database transactions of other tests hold readers back.
    await until('the event that is left can be read', async () => {
      read = (await reader.page(LOG_BEGINNING, 10)).events.map(({ txId }) => txId);
      return read.length > 0;
    });
    expect(read).toEqual([txIdOf(2)]);
  });

  it('are deleted once when two nodes begin at the same time', async () => {
    await stored.read(
      `INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, created_at)
       SELECT 1, '${txIdOf(1)}', 'sent', 'IN_MEMPOOL', 'first', ${OLD} FROM generate_series(1, 12000)`,
    );
    const metrics = [0, 1].map(() => new FakeMetrics());
    const runs = metrics.map((own) => {
      const allTxs = new PgOldTxs(database, new TransactionsConfig());
      const rows = new PgOldEvents(database, A_DAY);
      return new DeleteOld(allTxs, rows, entries, new SystemClock(), own).execute(() => false);
    });
    await Promise.all(runs);
    const deleted = metrics.flatMap((own) => own.values('retention_deleted_rows_total'));
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(12_000);
    expect(await keptEvents()).toEqual([]);
  });

  it('tell when the oldest of them was written', async () => {
    expect(await new PgOldEvents(database, A_DAY).oldestAt()).toBeNull();
    const own = new PgOldEvents(database, A_DAY);
    await putEvent(1, { created_at: `timestamptz '2026-01-01 00:00Z'` });
    await putEvent(2, { created_at: `timestamptz '2026-01-02 00:00Z'` });
    expect(await own.oldestAt()).toEqual(new Date('2026-01-01T00:00:00Z'));
    await stored.read(`DELETE FROM tx_event WHERE tx_id = '${txIdOf(1)}'`);
    expect(await own.oldestAt()).toEqual(new Date('2026-01-02T00:00:00Z'));
  });
});

const TABLES = [
  ...['managed_tx', 'tx_event', 'tx_attempt', 'tx_blob', 'permit_nonce', 'tx_command'],
  'signer_nonce_allocation',
];

/** A finished tx with one row of each kind. */
async function putFinished(n: number, more: Parameters<typeof stored.putTx>[1] = {}): Promise<void> {
  await stored.putTx(n, { state: 'CONFIRMED', updated_at: OLD, ...more });
  await stored.putSlot(n, 'CONSUMED', { tx_id: txIdOf(n), tx_hash: aHash(n) });
  await putEvent(n);
  await stored.put('tx_attempt', {
    chain_id: DEV_CHAIN,
    tx_hash: aHash(n),
    signer: SIGNER.address,
    nonce: n,
    tx_id: txIdOf(n),
    kind: 'payload',
    raw: '\\x02',
    gas_limit: 21_000,
    max_fee_per_gas: 2,
    max_priority_fee_per_gas: 1,
    status: 'MINED',
    fencing_token: 1,
  });
  await putCommand(n);
  await stored.put('permit_nonce', {
    ...{
      tx_id: txIdOf(n),
      position: 0,
      chain_id: DEV_CHAIN,
      contract: anAddress(5),
      owner: anAddress(6),
      sender: anAddress(7),
    },
    ...{ nonce: n, status: 'CONSUMED', made_at: 'now()', deadline: 0 },
  });
  await stored.put('tx_blob', {
    tx_id: txIdOf(n),
    position: 0,
    blob: '\\x',
    commitment: `\\x${'00'.repeat(48)}`,
    blob_proof: `\\x${'00'.repeat(48)}`,
    cell_proofs: `\\x${'00'.repeat(6144)}`,
  });
}

const putCommand = (n: number, more: Parameters<typeof stored.put>[1] = {}) =>
  stored.put('tx_command', {
    command_id: txIdOf(1_000 + n),
    chain_id: DEV_CHAIN,
    signer: SIGNER.address,
    tx_id: txIdOf(n),
    kind: 'cancel',
    request_id: `command-${n}`,
    request_hash: aHash(n),
    status: 'DONE',
    ...more,
  });

/** Above all others: the newest mined tx of the signer, which stays. */
const putNewest = () => putFinished(900, { updated_at: YOUNG });

const ONE = Object.fromEntries(TABLES.map((table) => [table, 1]));
const deleteTxs = (place = txs.beginning) => txs.deleteBehind(place);

const keptTxs = async (): Promise<number[]> =>
  (await stored.read<{ tx_id: string }>('SELECT tx_id FROM managed_tx ORDER BY tx_id')).map(({ tx_id }) =>
    Number(tx_id.slice(-12)),
  );

const rowsOf = async (n: number): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      TABLES.map(async (table) => {
        const rows = await stored.read(`SELECT FROM ${table} WHERE tx_id = '${txIdOf(n)}'`);
        return [table, rows.length] as const;
      }),
    ),
  );

/** What makes tx 1, which is finished and old, stay. */
const REASONS: Readonly<Record<string, () => Promise<unknown>>> = {
  'it was changed less than a day ago': () => stored.read(`UPDATE managed_tx SET updated_at = ${YOUNG}`),
  'the tx that replaced it is not finished': async () => {
    await stored.putTx(2, { state: 'IN_MEMPOOL' });
    await stored.read(`UPDATE managed_tx SET replaced_by = '${txIdOf(2)}' WHERE tx_id = '${txIdOf(1)}'`);
  },
  'the tx that it was to replace is not finished': async () => {
    await stored.putTx(2, { state: 'IN_MEMPOOL' });
    await stored.read(`UPDATE managed_tx SET replaces = '${txIdOf(2)}' WHERE tx_id = '${txIdOf(1)}'`);
  },
  'a command for it waits': () => stored.read(`UPDATE tx_command SET status = 'QUEUED'`),
  'the command that made it waits': async () => {
    await putFinished(2);
    await stored.read(
      `UPDATE tx_command SET kind = 'replace', status = 'QUEUED', replacement = '${txIdOf(1)}' WHERE tx_id = '${txIdOf(2)}'`,
    );
    await stored.read(`UPDATE managed_tx SET replaces = '${txIdOf(2)}' WHERE tx_id = '${txIdOf(1)}'`);
  },
  'a replacement that a command made is not finished': async () => {
    await stored.putTx(2);
    await stored.read(`UPDATE tx_command SET kind = 'replace', replacement = '${txIdOf(2)}'`);
  },
  'another signer signed an authorization for it': () =>
    stored.put('tx_authorization', { tx_id: txIdOf(1), chain_id: DEV_CHAIN, authority: anAddress(5) }),
  'a permit is to be signed for it': () =>
    stored.put('permit_nonce', {
      ...{ tx_id: txIdOf(1), position: 1, chain_id: DEV_CHAIN },
      ...{ contract: anAddress(5), owner: anAddress(6), sender: anAddress(7) },
    }),
  'a slot is held for it': () => stored.read(`UPDATE signer_nonce_allocation SET status = 'HELD' WHERE nonce = 1`),
  'a stored reader has not read its last event': async () => {
    await putEvent(1);
    await putReader('webhooks', 2);
  },
};

describe('old finished txs', () => {
  it('are deleted with everything that belongs to them, and nothing of others', async () => {
    await putFinished(1);
    await putNewest();
    await stored.putTx(2, { updated_at: OLD });
    await putEvent(2);
    await putReader('webhooks', 3);
    expect(await deleteTxs()).toEqual({ next: txIdOf(900), hasMore: false, deleted: ONE });
    expect(await rowsOf(1)).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])));
    expect(await rowsOf(900)).toEqual(ONE);
    expect(await keptTxs()).toEqual([2, 900]);
    expect((await rowsOf(2))['tx_event']).toBe(1);
  });

  it.each(['CONFIRMED', 'FAILED', 'CANCELLED', 'DROPPED', 'REPLACED'])(
    'are deleted when they are %s',
    async (state) => {
      await putNewest();
      await putFinished(1, { state, ...(state === 'REPLACED' && { replaced_by: txIdOf(900) }) });
      await deleteTxs();
      expect(await keptTxs()).toEqual([900]);
    },
  );

  it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED'])('are not those that are %s', async (state) => {
    await stored.putTx(1, { state, updated_at: OLD });
    await deleteTxs();
    expect(await keptTxs()).toEqual([1]);
  });

  it.each(Object.entries(REASONS))('stay while %s', async (_reason, arrange) => {
    await putFinished(1);
    await putNewest();
    await arrange();
    await deleteTxs();
    expect(await keptTxs()).toContain(1);
  });

  it('stay while their id is young, whatever the other times are', async () => {
    await putNewest();
    const [young] = await stored.read<{ tx_id: string }>(
      `SELECT (lpad(to_hex((extract(epoch FROM ${YOUNG}) * 1000)::bigint), 12, '0') || '70008000000000000001')::uuid AS tx_id`,
    );
    await stored.putTx(1, { state: 'CANCELLED', updated_at: OLD, tx_id: young?.tx_id ?? null });
    await deleteTxs();
    expect(await stored.read('SELECT FROM managed_tx')).toHaveLength(2);
  });

  it('take a command with them that made them, so that a client can send it again', async () => {
    await putNewest();
    await putFinished(1, { state: 'DROPPED', replaces: txIdOf(900) });
    await stored.read(
      `UPDATE tx_command SET kind = 'replace', replacement = '${txIdOf(1)}' WHERE tx_id = '${txIdOf(900)}'`,
    );
    expect(await deleteTxs()).toMatchObject({ deleted: { managed_tx: 1, tx_command: 2 } });
  });

  it('leave the newest mined tx of each signer, where the search for deep reorgs begins', async () => {
    for (const n of [1, 2, 3]) await putFinished(n);
    await stored.put('signer', { chain_id: DEV_CHAIN, address: SIGNER.address, custody: '{}' });
    await deleteTxs();
    expect(await keptTxs()).toEqual([3]);
    expect(
      (await stored.read<{ nonce: string }>('SELECT nonce FROM signer_nonce_allocation')).map(Number),
    ).toHaveLength(1);
    const { rows } = await database.query<{ tx_id: string }>(NEWEST_FINAL, [DEV_CHAIN, null, null, 1]);
    expect(rows.map(({ tx_id }) => tx_id)).toEqual([txIdOf(3)]);
  });

  it('free their idempotency keys', async () => {
    await stored.put('signer', { chain_id: DEV_CHAIN, address: SIGNER.address, custody: '{}' });
    await putFinished(1);
    await putNewest();
    const intake = new PgTxIntake(database, new Named('first'));
    const again = (n: number) =>
      intake.insertPending([
        { txId: txIdOf(n), request: aRequest({ signer: SIGNER, requestId: 'request-1' }), isServed: true },
      ]);
    await again(2);
    expect(await keptTxs()).toEqual([1, 900]);
    await deleteTxs();
    await again(3);
    expect(await keptTxs()).toEqual([3, 900]);
  });

  it('go in batches of 500', async () => {
    await stored.read(
      `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, updated_at)
       SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, '${SIGNER.address}', 'many-' || n, '${aHash(1)}', 0, '', '{}', 0, 'CANCELLED', ${OLD}
         FROM generate_series(1, 501) n`,
    );
    const first = await deleteTxs();
    expect(first).toMatchObject({ next: txIdOf(500), hasMore: true, deleted: { managed_tx: 500 } });
    expect(await deleteTxs(first?.next)).toMatchObject({ hasMore: false, deleted: { managed_tx: 1 } });
  });

  it('stay whole when the node dies before its commit, and any node goes on', async () => {
    await putFinished(1);
    await putNewest();
    const died = inTurn(database, 2, async (tx) => {
      const { rows } = await tx.query<{ managed_tx: number }>(DELETE_TXS, [txs.beginning, DAY_MS, 500]);
      expect(rows[0]?.managed_tx).toBe(1);
      throw new Error('died');
    });
    await expect(died).rejects.toThrow('died');
    expect(await rowsOf(1)).toEqual(ONE);
    expect(await deleteTxs()).toMatchObject({ deleted: { managed_tx: 1 } });
  });

  it('are deleted by one node at a time', async () => {
    await putFinished(1);
    await putNewest();
    await during(
      (wait) => inTurn(database, 2, wait),
      async () => expect(await deleteTxs()).toBeNull(),
    );
    expect(await keptTxs()).toEqual([1, 900]);
  });

  it('are skipped while another database transaction has them', async () => {
    await putFinished(1);
    await putNewest();
    await during(
      (wait) =>
        database.transaction(async (tx) => {
          await tx.query({ name: 'test_lock', text: 'SELECT FROM managed_tx WHERE tx_id = $1 FOR UPDATE' }, [
            txIdOf(1),
          ]);
          await wait();
        }),
      async () => expect(await deleteTxs()).toMatchObject({ deleted: { managed_tx: 0 } }),
    );
    expect(await deleteTxs()).toMatchObject({ deleted: { managed_tx: 1 } });
  });
});

describe('entries of the audit log', () => {
  it('go when they are old, page by page, and no others', async () => {
    await stored.read(
      `INSERT INTO audit_entry (at, account_id, actor, action, object, detail)
       SELECT CASE WHEN n = 5001 THEN ${YOUNG} ELSE ${OLD} END, gen_random_uuid(), 'somebody', 'testWebhook', 'webhook:' || n, '{}' FROM generate_series(1, 5002) AS n`,
    );
    const first = await entries.deleteBehind(entries.beginning);
    expect(first).toMatchObject({ hasMore: true, deleted: { audit_entry: 5_000 } });
    const second = await entries.deleteBehind(first?.next ?? '');
    expect(second).toMatchObject({ hasMore: false, deleted: { audit_entry: 1 } });
    expect(await stored.read('SELECT object FROM audit_entry')).toEqual([{ object: 'webhook:5001' }]);
  });
});
