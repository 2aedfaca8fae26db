import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { ANYONE, limitedTo } from '../../src/kernel/caller.js';
import { TxQueries, type TxFilter } from '../../src/modules/ledger/application/views/tx-views.js';
import { TX_STATES } from '../../src/modules/ledger/index.js';
import { listStatement } from '../../src/modules/ledger/infrastructure/tx-list.statement.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { planNow, touchedBy } from '../support/plan.js';

let client: Client;
// Before those of the lab, which ends its database.
afterEach(() => client.end());

const lab = nodeLab();
const MANY = 30_000;
const BUSY = aSigner(1).address;
const OTHER = aSigner(2).address;

/** In this order: some of every state of one signer, very many of another that are confirmed, and on top of these, many that wait. */
const INSERT = `
  INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash, receipt, block_number, block_hash, failure_reason, replaced_by)
  SELECT ('01900000-' || $7::text || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, $3::text || n, $4::text, 0, '', '{"speed": "standard"}', 0, $5::text,
         CASE WHEN $5::text <> 'PENDING' THEN $8::bigint + n END, $4::text,
         CASE WHEN $5::text IN ('MINED', 'CONFIRMED') THEN '{}'::jsonb END, CASE WHEN $5::text IN ('MINED', 'CONFIRMED') THEN 1 END, CASE WHEN $5::text IN ('MINED', 'CONFIRMED') THEN $4::text END, 'x', CASE WHEN $5::text = 'REPLACED' THEN gen_random_uuid() END
    FROM generate_series(1, $6::int) AS n`;

beforeEach(async () => {
  const { options } = lab.node.get(Database).dataSource;
  client = new Client({ connectionString: 'url' in options ? options.url : undefined });
  await client.connect();
  await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
  for (const [index, state] of TX_STATES.entries()) await insert(OTHER, state, 3, `000${index}`, index * 10);
  await insert(BUSY, 'CONFIRMED', MANY, '0100', 0);
  await insert(BUSY, 'PENDING', MANY, '0200', 0);
  await client.query('ANALYZE managed_tx');
});

function insert(signer: string, state: string, count: number, time: string, nonce: number): Promise<unknown> {
  const values = [DEV_CHAIN, signer, `${state}-`, aHash(7), state, count, time, nonce];
  return client.query(INSERT, values);
}

const kind = 'payload';
const FILTERS: readonly Omit<TxFilter, 'limit'>[] = [
  { kind },
  { kind, chainId: DEV_CHAIN },
  { kind, signer: OTHER },
  { kind, signer: OTHER, chainId: DEV_CHAIN },
];

describe('a page of txs by state, with and without chain and signer', () => {
  it('is newest first, and goes on behind a cursor', async () => {
    for (const state of TX_STATES)
      for (const filter of FILTERS) {
        const [newest = '', next = ''] = await idsOf({ ...filter, state, limit: 2 });
        const [third = ''] = await idsOf({ ...filter, state, limit: 1, before: next });
        expect([newest > next, next > third, third !== '']).toEqual([true, true, true]);
      }
  });

  it('is read from an index, whatever is newer or older', async () => {
    const pages: Record<string, number> = {};
    for (const state of TX_STATES)
      for (const filter of FILTERS)
        pages[`${state} ${Object.keys(filter).join()}`] = await pagesOf({ ...filter, state, limit: 50 });
    const dear = Object.entries(pages).filter(([, count]) => count > 400);
    expect(dear).toEqual([]);
  });

  it('of whoever is limited to a signer or a chain is read from an index, too', async () => {
    const signer = { chainId: DEV_CHAIN, address: OTHER };
    const viewers = [limitedTo([signer], null), limitedTo(null, [DEV_CHAIN]), limitedTo(null, [7])];
    for (const only of viewers)
      for (const filter of [...FILTERS, { kind, state: 'CONFIRMED' } as const])
        expect(await pagesOf({ ...filter, limit: 50 }, { ...ANYONE, only })).toBeLessThan(400);
  });

  it.each(['fill', 'hold'] as const)('of %ss alone is read from an index, too', async (rare) => {
    await client.query(`UPDATE managed_tx SET kind = '${rare}' WHERE signer = $1 AND state = 'CONFIRMED'`, [OTHER]);
    await client.query('ANALYZE managed_tx');
    const filters = [{}, { chainId: DEV_CHAIN }, { signer: OTHER, chainId: DEV_CHAIN }, { signer: BUSY }];
    for (const filter of filters) expect(await pagesOf({ ...filter, kind: rare, limit: 50 })).toBeLessThan(100);
    expect(await idsOf({ kind: rare, state: 'CONFIRMED', limit: 50 })).toHaveLength(3);
  });
});

it('a page of a chain reads no younger txs of other chains', async () => {
  await client.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state)
     SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 2, $1, 'old-' || n, $2, 0, '', '{"speed": "standard"}', 0,
            CASE WHEN n % 5 = 0 THEN 'PENDING' ELSE 'CANCELLED' END
       FROM generate_series(1, 5000) AS n`,
    [BUSY, aHash(7)],
  );
  await client.query('ANALYZE managed_tx');
  expect(await pagesOf({ kind, chainId: 2, limit: 50 })).toBeLessThan(400);
  const read = lab.node.get(TxQueries);
  const first = await read.list({ kind, chainId: 2, limit: 7 }, ANYONE);
  const second = await read.list({ kind, chainId: 2, limit: 7, before: first.nextBefore ?? '' }, ANYONE);
  const numbers = [...first.items, ...second.items].map(({ requestId }) => requestId);
  expect(numbers).toEqual(Array.from({ length: 14 }, (_, n) => `old-${5_000 - n}`));
  expect((await read.list({ kind, chainId: DEV_CHAIN, limit: 3 }, ANYONE)).items.map(({ state }) => state)).toEqual(
    Array(3).fill('PENDING'),
  );
});

async function idsOf(filter: TxFilter): Promise<string[]> {
  const { items } = await lab.node.get(TxQueries).list(filter, ANYONE);
  for (const tx of items) expect(tx.state).toBe(filter.state);
  return items.map((tx) => tx.txId);
}

let shapes = 0;

async function pagesOf(filter: TxFilter, viewer = ANYONE): Promise<number> {
  const { text, values } = listStatement(filter, viewer);
  const statement = { name: `test_list_${(shapes += 1)}`, text };
  await planNow(client, statement, values);
  const args = values.map((value) =>
    Array.isArray(value) ? `'{${value.join()}}'` : typeof value === 'string' ? `'${value}'` : String(value),
  );
  return (await touchedBy(client, statement, args)).pages;
}
