import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { QUEUED } from '../../src/modules/commands/infrastructure/command.statements.js';
import { EXPIRED } from '../../src/modules/ledger/infrastructure/pg-commanded-txs.js';
import {
  COUNT_WAITING,
  NEXT_PENDING,
  SIGNERS_IN_WORK,
  SIGNERS_WITH_WORK,
} from '../../src/modules/ledger/infrastructure/pg-tx-queue.js';
import { LOCK_PENDING } from '../../src/modules/ledger/infrastructure/pg-tx-writer.js';
import { DUE_FOR_RECEIPT, DUE_FOR_RESUBMIT } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';
import { Database } from '../../src/platform/database/database.js';
import type { Statement } from '../../src/platform/database/pg-tx.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { planNow, touchedBy } from '../support/plan.js';
import { TxQueue } from '../../src/modules/ledger/domain/tx-queue.js';

let client: Client;
// Before those of the lab, which ends its database.
afterEach(() => client.end());

const lab = nodeLab();
const CROWD = 100_000;
/** The connections of the service have these, too. */
const SETTINGS = 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off';

/** Ids that grow with the time of creation, as the service makes them; of a time long past. */
const INSERT_WAITING = `
  INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, next_resubmit_at)
  SELECT ('01900000-' || lpad(to_hex(n >> 16), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 'crowd-' || n, '0x' || repeat('0', 64), 0, '',
         '{"speed": "standard"}', 0, 'PENDING', $4::timestamptz
    FROM generate_series(1, $3::int) AS n`;

let signer: string;
let other: string;

beforeEach(async () => {
  const { options } = lab.node.get(Database).dataSource;
  client = new Client({ connectionString: 'url' in options ? options.url : undefined });
  await client.connect();
  await client.query(SETTINGS);
  [signer, other] = [lab.node.signer(0).address, lab.node.signer(1).address];
  await prepare();
});
/** On empty tables, where every index looks equally good. */
async function prepare(): Promise<void> {
  await planNow(client, NEXT_PENDING, nextArguments());
  await planNow(client, LOCK_PENDING, [['01900000-0000-7000-8000-000000000001']]);
  await planNow(client, SIGNERS_WITH_WORK, [DEV_CHAIN, 'me']);
  await planNow(client, SIGNERS_IN_WORK, [DEV_CHAIN, 'me']);
  await planNow(client, DUE_FOR_RESUBMIT, [DEV_CHAIN, [signer], 64]);
  await planNow(client, DUE_FOR_RECEIPT, [DEV_CHAIN, [signer], 64]);
  await planNow(client, EXPIRED, [DEV_CHAIN, [signer], 64]);
  await planNow(client, COUNT_WAITING, [[DEV_CHAIN], [signer], [null], [64]]);
  await planNow(client, QUEUED, [DEV_CHAIN, [signer], 64]);
}

const START = ['-2147483648', '00000000-0000-0000-0000-000000000000'] as const;

function nextArguments(after: readonly [string, string] = START): unknown[] {
  return [
    [DEV_CHAIN, DEV_CHAIN],
    [signer, other],
    [64, 64],
    [after[0], after[0]],
    [after[1], after[1]],
  ];
}

const NEXT = (after: readonly [string, string] = START): string[] => [
  `ARRAY[${DEV_CHAIN}, ${DEV_CHAIN}]`,
  `ARRAY['${signer}', '${other}']`,
  'ARRAY[64, 64]',
  `ARRAY[${after[0]}, ${after[0]}]`,
  `ARRAY['${after[1]}', '${after[1]}']::uuid[]`,
];

const SHOP = '01900000-0000-7000-8000-00000000acc0';
const COUNT = (ofSigner: string, account: string): string[] => [
  `ARRAY[${DEV_CHAIN}]::bigint[]`,
  `ARRAY[${ofSigner}]::text[]`,
  `ARRAY[${account}]::uuid[]`,
  'ARRAY[1000]',
];

const pagesOf = async (statement: Statement, args: readonly string[]): Promise<number> =>
  (await touchedBy(client, statement, args)).pages;

describe('100,000 txs that wait and are not due', () => {
  beforeEach(async () => {
    await client.query(INSERT_WAITING, [DEV_CHAIN, signer, CROWD, new Date(Date.now() + 3_600_000)]);
  });

  it('are not looked at by the lanes, nor by polling, nor when others are claimed', async () => {
    expect(await touchedBy(client, NEXT_PENDING, NEXT())).toMatchObject({ rows: 0 });
    expect(await pagesOf(NEXT_PENDING, NEXT())).toBeLessThan(50);
    expect(await pagesOf(SIGNERS_WITH_WORK, [String(DEV_CHAIN), `'me'`])).toBeLessThan(50);
    const ids = Array.from({ length: 64 }, (_, n) => `'01900000-0000-7000-8000-${String(n).padStart(12, '0')}'`);
    const claimed = await touchedBy(client, LOCK_PENDING, [`ARRAY[${ids.join()}]::uuid[]`]);
    expect(claimed.indexes).toEqual(['managed_tx_pkey']);
    expect(claimed.pages).toBeLessThan(500);
  });

  it('are counted up to a limit by as many entries of an index', async () => {
    const ofSigner = await touchedBy(client, COUNT_WAITING, COUNT(`'${signer}'`, 'NULL'));
    expect([ofSigner.rows, ofSigner.pages < 1_100]).toEqual([1_000, true]);
    await client.query('UPDATE managed_tx SET account_id = $1', [SHOP]);
    const ofAccount = await touchedBy(client, COUNT_WAITING, COUNT('NULL', `'${SHOP}'`));
    expect([ofAccount.rows, ofAccount.pages < 1_100]).toEqual([1_000, true]);
  });

  it('hold up none that come later', async () => {
    const { txId } = await lab.node.create({ ...aRequest(), signer: lab.node.signer(0) });
    await lab.node.step();
    expect((await lab.node.tx(txId)).state).toBe('IN_MEMPOOL');
  });
});

it('timers of txs in flight that have not run out are not read', async () => {
  await client.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash, next_resubmit_at, next_receipt_check_at)
     SELECT gen_random_uuid(), $1, $2, 'flying-' || n, h.hash, 0, '', '{"speed": "standard"}', 0, 'IN_MEMPOOL', n, h.hash, now() + interval '1 hour', now() + interval '1 hour'
       FROM generate_series(1, 5000) AS n, (SELECT '0x' || repeat('f', 64) AS hash) AS h`,
    [DEV_CHAIN, signer],
  );
  for (const statement of [DUE_FOR_RESUBMIT, DUE_FOR_RECEIPT])
    expect(await pagesOf(statement, [String(DEV_CHAIN), `ARRAY['${signer}']`, '64'])).toBeLessThan(20);
});

it('signers that are idle cost a look into one page or two, whatever others have in flight and finished', async () => {
  const idle = Array.from({ length: 500 }, (_, n) => `0x${(0x2000 + n).toString(16).padStart(40, '0')}`);
  await client.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash, next_resubmit_at, next_receipt_check_at, expires_at, receipt, block_number, block_hash)
     SELECT gen_random_uuid(), $1, $2, 'many-' || n, h.hash, 0, '', '{"speed": "standard"}', 0, CASE WHEN n % 2 = 0 THEN 'IN_MEMPOOL' ELSE 'CONFIRMED' END, n, h.hash,
            now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour', CASE WHEN n % 2 = 1 THEN '{}'::jsonb END, CASE WHEN n % 2 = 1 THEN 1 END, CASE WHEN n % 2 = 1 THEN h.hash END
       FROM generate_series(1, 10000) AS n, (SELECT '0x' || repeat('f', 64) AS hash) AS h`,
    [DEV_CHAIN, signer],
  );
  for (const [statement, ...indexes] of [
    // What never left a node waits until it is closed.
    [DUE_FOR_RESUBMIT, 'managed_tx_resubmit_due', 'tx_attempt_slot', 'tx_command_waiting'],
    [DUE_FOR_RECEIPT, 'managed_tx_receipt_due'],
    // A hold whose extend waits does.
    [EXPIRED, 'managed_tx_expiring', 'tx_command_waiting'],
    // A replace of a paused signer waits.
    [QUEUED, 'signer_pause_pkey', 'tx_command_queued'],
  ] as const) {
    const ofIdle = await touchedBy(client, statement, [String(DEV_CHAIN), `ARRAY['${idle.join(`','`)}']`, '64']);
    expect(ofIdle).toMatchObject({ indexes, rows: 0 });
    expect(ofIdle.pages).toBeLessThanOrEqual(3 * idle.length);
  }
  for (const statement of [DUE_FOR_RESUBMIT, DUE_FOR_RECEIPT, EXPIRED]) {
    const ofBusy = await touchedBy(client, statement, [String(DEV_CHAIN), `ARRAY['${signer}']`, '64']);
    expect(ofBusy.rows).toBeLessThanOrEqual(65);
  }
});

describe('while a snapshot is held open that is older than 100,000 txs', () => {
  let old: Client;
  beforeEach(async () => {
    const { options } = lab.node.get(Database).dataSource;
    old = new Client({ connectionString: 'url' in options ? options.url : undefined });
    await old.connect();
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await old.query('SELECT count(*) FROM managed_tx');
  });
  afterEach(() => old.end());

  it('lanes begin where they were, and polling reads who is in work', async () => {
    await client.query(INSERT_WAITING, [DEV_CHAIN, signer, CROWD, null]);
    await client.query(`UPDATE managed_tx SET state = 'CANCELLED'`);
    await client.query('VACUUM managed_tx');
    const fromStart = await pagesOf(NEXT_PENDING, NEXT());
    const last = `01900000-0001-7000-8000-${CROWD.toString(16).padStart(12, '0')}`;
    expect(await pagesOf(NEXT_PENDING, NEXT(['0', last]))).toBeLessThan(60);
    expect(fromStart).toBeGreaterThan(1_000);
    expect(await pagesOf(SIGNERS_IN_WORK, [String(DEV_CHAIN), `'me'`])).toBeLessThan(20);
  });

  it('what was tried and has ended is passed over, too', async () => {
    await client.query(INSERT_WAITING, [DEV_CHAIN, signer, CROWD, new Date(Date.now() + 3_600_000)]);
    await client.query(`UPDATE managed_tx SET state = 'CANCELLED'`);
    await client.query('VACUUM managed_tx');
    expect(await pagesOf(NEXT_PENDING, NEXT())).toBeLessThan(50);
    expect(await pagesOf(SIGNERS_IN_WORK, [String(DEV_CHAIN), `'me'`])).toBeLessThan(20);
  });
});

describe('the next txs of a signer', () => {
  const next = async (room: number): Promise<string[]> => {
    const found = await lab.node.get(TxQueue).nextPending([{ signer: lab.node.signer(0), room }]);
    return found.map(({ request }) => request.requestId);
  };
  const due = (requestId: string, seconds: number): Promise<unknown> =>
    client.query(
      `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - $2 * interval '1 second' WHERE request_id = $1`,
      [requestId, seconds],
    );

  it('are of the highest priority; of one, those that are due again and those never tried take turns', async () => {
    for (let tag = 1; tag <= 6; tag += 1) await lab.create(tag);
    await lab.create(7, { priority: 5 });
    await lab.create(8, { priority: -5 });
    await due('request-1', 10);
    await due('request-2', 20);
    await due('request-3', -60);
    const name = (tag: number): string => `request-${tag}`;
    const order = await next(8);
    // Of one turn, the lower id goes first.
    expect(order).toEqual([7, 2, 4, 1, 5, 6, 8].map(name));
    expect(await next(3)).toEqual(order.slice(0, 3));
  });

  it('are of the highest priority also when more are due again than there is room for, and all come in the end', async () => {
    for (let tag = 1; tag <= 6; tag += 1) await lab.create(tag, { priority: tag % 3 });
    await lab.create(7, { priority: 100 });
    for (let tag = 1; tag <= 7; tag += 1) await due(`request-${tag}`, 100 - tag);
    const name = (tag: number): string => `request-${tag}`;
    expect(await next(3)).toEqual([7, 2, 5].map(name));
    expect(await next(6)).toEqual([7, 2, 5, 1, 4, 3].map(name));
    expect(await next(7)).toEqual([7, 2, 5, 1, 4, 3, 6].map(name));
  });

  it('of 100,000 that are due after an outage are found by few looks, the most urgent first', async () => {
    await client.query(INSERT_WAITING, [DEV_CHAIN, signer, CROWD, new Date(Date.now() - 60_000)]);
    await lab.create(1, { priority: 100 });
    await due('request-1', 1);
    const read = await touchedBy(client, NEXT_PENDING, NEXT());
    expect(read.pages).toBeLessThan(200);
    expect((await next(64))[0]).toBe('request-1');
  });

  it('are found again from the start after a while, also those with ids from before', async () => {
    const { node } = lab;
    const first = await lab.create(1);
    await node.step();
    expect((await node.tx(first)).state).toBe('IN_MEMPOOL');
    await client.query(INSERT_WAITING, [DEV_CHAIN, signer, 1, null]);
    for (;;) {
      await node.step();
      const { rows } = await client.query(`SELECT FROM managed_tx WHERE request_id = 'crowd-1' AND state <> 'PENDING'`);
      if (rows.length === 1) break;
    }
  });
});

it('polling looks at a signer while its lease was not given up as idle, and again when it was taken anew', async () => {
  const { node } = lab;
  const leases = node.get(LeaseManager);
  const inWork = async (): Promise<string[]> =>
    (await node.get(TxQueue).signersInWork(DEV_CHAIN)).map((work) => work.signer.address);
  expect(await inWork()).toEqual([]);
  const held = await leases.acquireOrRenew([node.signer(0)]);
  expect(await inWork()).toEqual([signer]);
  await leases.giveUp(held);
  expect(await inWork()).toEqual([signer]);
  await leases.giveUp(await leases.acquireOrRenew([node.signer(0)]), true);
  expect(await inWork()).toEqual([]);
  await leases.acquireOrRenew([node.signer(0)]);
  expect(await inWork()).toEqual([signer]);
});

it('a look by leases names a signer of a dead node only when it has pending txs', async () => {
  const { node } = lab;
  const inWork = async (): Promise<string[]> =>
    (await node.get(TxQueue).signersInWork(DEV_CHAIN)).map((work) => work.signer.address);
  await node.get(LeaseManager).acquireOrRenew([node.signer(0)]);
  await client.query(`UPDATE signer_lease SET expires_at = clock_timestamp() - interval '1 day'`);
  expect(await inWork()).toEqual([]);
  await lab.create(1);
  await client.query(`UPDATE managed_tx SET next_resubmit_at = clock_timestamp()`);
  expect(await inWork()).toEqual([signer]);
});
