import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { countByInput, readChain } from '../support/chain-reader.js';
import { Cluster } from '../support/cluster.js';
import { bodyOf, dataOf } from '../support/cluster-clients.js';
import { until } from '../support/until.js';

const FINISHED = 1_000_000;
const EXECUTED = 200;
/** Half of the finished ones belong to the signer that goes on working. */
const [BUSY, OTHER] = DEV_ACCOUNTS;
const CROWDED = ['managed_tx', 'signer_nonce_allocation', 'tx_attempt'] as const;

let cluster: Cluster;

beforeAll(async () => {
  // Patient, because the server is still busy with the million when they are put to the proof.
  const config = {
    lease: { duration: '10s' },
    database: { statementTimeout: '5s' },
  };
  cluster = await Cluster.start({ nodes: 1, blockTime: 0.5, config });
  // The counts begin with a node that starts.
  expect(await cluster.node(0).stop()).toBe(0);
});

afterAll(() => cluster.stop());

/**
 * Half of them were confirmed and have a slot, the other half refused before they had one; of attempts, which cost most to
 * insert, there are 100,000. Values that may repeat come out of `same` as what they are, so that they are checked once and
 * not a million times.
 */
async function finishMany(): Promise<void> {
  const { database } = cluster;
  const finished = (from: number, to: number): string => `
    WITH same AS MATERIALIZED (
      SELECT '${BUSY.toLowerCase()}'::evm_address AS busy, '${OTHER.toLowerCase()}'::evm_address AS other,
             '0x${'f'.repeat(64)}'::evm_hash AS hash, 0::wei AS nothing),
    finished AS (
      SELECT n, ('0190' || lpad(to_hex(n), 28, '0'))::uuid AS tx_id, CASE n % 2 WHEN 0 THEN busy ELSE other END AS signer,
             ${EXECUTED} + n / 2 AS nonce, same.* FROM generate_series(${from}, ${to - 1}) AS n CROSS JOIN same)`;
  await Promise.all([
    database.query(
      `${finished(0, FINISHED / 2)}
       INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state, nonce, gas_limit,
                               tx_hash, receipt, block_number, block_hash, confirmed_at, fencing_token, version)
       SELECT tx_id, 31337, signer, 'finished-' || n, hash, other, nothing, '', '{"speed": "standard"}', 0, 'CONFIRMED', nonce, 21000,
              hash, '{}', 1, hash, now(), 1, 5 FROM finished`,
    ),
    database.query(
      `${finished(FINISHED / 2, FINISHED)}
       INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, state, failure_reason, fencing_token, version)
       SELECT tx_id, 31337, signer, 'finished-' || n, hash, other, nothing, '', '{"speed": "standard"}', 0, 'FAILED', 'would revert', 1, 2 FROM finished`,
    ),
    database.query(
      `${finished(0, FINISHED / 2)}
       INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, tx_hash, fencing_token)
       SELECT 31337, signer, nonce, 'CONSUMED', tx_id, hash, 1 FROM finished`,
    ),
    database.query(
      `${finished(0, FINISHED / 10)}
       INSERT INTO tx_attempt (chain_id, tx_hash, signer, nonce, tx_id, kind, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, status, fencing_token)
       SELECT 31337, '0x' || lpad(to_hex(n), 64, '0'), signer, nonce, tx_id, 'payload', '', 21000, nothing, nothing, 'MINED', 1 FROM finished`,
    ),
  ]);
  // As autovacuum does it after so many rows.
  await database.query('ANALYZE');
  for (const signer of [BUSY, OTHER])
    await callRpc(cluster.rpcUrl, 'anvil_setNonce', [signer, `0x${(EXECUTED + FINISHED / 4).toString(16)}`]);
}

/** Rows and index entries that were looked at, by table, as PostgreSQL counts them. */
async function looks(): Promise<Record<string, number>> {
  const rows = await cluster.database.query<{ name: string; looks: string }>(
    `SELECT t.relname AS name, t.seq_tup_read + (SELECT coalesce(sum(i.idx_tup_read), 0) FROM pg_stat_user_indexes i WHERE i.relid = t.relid) AS looks
       FROM pg_stat_user_tables t WHERE t.relname = ANY($1)`,
    [CROWDED],
  );
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.looks)]));
}

/** What a node looks at from its start to its end, while it executes some. It alone reads the tables meanwhile. */
async function looksOfExecuting(mark: string): Promise<Record<string, number>> {
  const before = await looks();
  const node = cluster.node(0);
  await node.start();
  const requestIds = Array.from({ length: EXECUTED }, (_, n) => `${mark}-${n}`);
  await Promise.all(
    requestIds.map(async (requestId) => {
      const created = await node.service.post('/api/v1/tx', bodyOf(BUSY, requestId));
      const { body } = await node.service.get(
        `/api/v1/tx/${String(created.body['txId'])}?waitFor=CONFIRMED&timeoutMs=60000`,
      );
      expect(body).toMatchObject({ requestId, state: 'CONFIRMED' });
    }),
  );
  for (const path of ['/metrics', '/api/v1/signers']) expect((await node.service.get(path)).status).toBe(200);
  expect(await node.stop()).toBe(0);
  // A connection hands in its counts when it ends.
  await until('its connections are gone', async () => {
    const left = await cluster.database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lockstep'`,
    );
    return left.length === 0;
  });
  const after = await looks();
  return Object.fromEntries(CROWDED.map((table) => [table, (after[table] ?? 0) - (before[table] ?? 0)]));
}

/**
 * The million is there, because the planner's own count says so after ANALYZE. Looks are counted by the server, so the clock
 * has no say: one walk through a table, or through all of one signer, looks at 50,000 at least.
 */
it('1,000,000 finished transactions cost nothing: the same work looks at as few rows as without them', async () => {
  const alone = await looksOfExecuting('alone');
  await finishMany();
  const sizes = await cluster.database.query<{ size: number }>(
    'SELECT reltuples::int AS size FROM pg_class WHERE relname = ANY($1) ORDER BY relname',
    [CROWDED],
  );
  expect(sizes.map(({ size }) => Math.round((10 * size) / FINISHED))).toEqual([10, 5, 1]);
  const crowded = await looksOfExecuting('crowded');
  process.stdout.write(`rows and entries looked at: ${JSON.stringify({ alone, crowded })}\n`);
  for (const table of CROWDED) expect(crowded[table]).toBeLessThan((alone[table] ?? 0) + FINISHED / 25);

  const onChain = countByInput(await readChain(cluster.rpcUrl));
  for (const mark of ['alone', 'crowded'])
    for (let n = 0; n < EXECUTED; n += 1) expect(onChain.get(dataOf(BUSY, `${mark}-${n}`))).toBe(1);
});
