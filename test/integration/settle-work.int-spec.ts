import { describe, expect, it } from '@jest/globals';
import * as sql from '../../src/modules/ledger/infrastructure/pg-mined-txs.js';
import { Database } from '../../src/platform/database/database.js';
import type { PgTx, SqlValue, Statement } from '../../src/platform/database/pg-tx.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

/** Of one signer: as many in flight as are MINED, in blocks from 1,002 to 3,000, with 2,000 confirmations of their own and a few, or none. */
const CROWD = 2_000;
const INSERT_CROWD = {
  name: 'test_crowd',
  text: `
    INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, state, nonce, tx_hash,
                            receipt, block_number, block_hash)
    SELECT gen_random_uuid(), $1, $2, 'crowd-' || n, h.hash, NULL, 0, '', '{"speed": "standard"}', 0, CASE WHEN n % 3 = 0 THEN NULL ELSE 2000 + n % 20 END,
           CASE WHEN n % 2 = 0 THEN 'MINED' ELSE 'IN_MEMPOOL' END, n, h.hash,
           CASE WHEN n % 2 = 0 THEN '{}'::jsonb END, CASE WHEN n % 2 = 0 THEN 1000 + n END, CASE WHEN n % 2 = 0 THEN h.hash END
      FROM generate_series(1, $3::int) AS n, (SELECT '0x' || repeat('f', 64) AS hash) AS h`,
};

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How the statement looked into managed_tx: through which index, and at how many rows. */
async function looksOf(tx: PgTx, { name }: Statement, values: readonly string[]) {
  const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    { name: '', text: `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name}(${values.join(', ')})` },
    [],
  );
  const scans = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan)).filter((node) => node['Relation Name']);
  return {
    indexes: new Set(scans.map((scan) => scan['Index Name'] ?? scan['Node Type'])),
    rows: scans.reduce(
      (sum, scan) => sum + (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
      0,
    ),
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap((child) => nodesOf(child))];
}

/** Final up to block 1,010 by the chain's rule, and with head 3,010 about there by their own: three of the crowd. */
const ARGUMENTS = (signer: string): SqlValue[] => [DEV_CHAIN, [signer], 1_010, 3_010, 3_010, 100, 0];

describe.each(['force_generic_plan', 'force_custom_plan'])(
  'what is MINED and not deep enough, planned for an empty table (%s)',
  (mode) => {
    it('is not looked at', async () => {
      const signer = lab.node.signer().address;
      await lab.node.get(Database).transaction(async (tx) => {
        await tx.query({ name: 'test_mode', text: `SET LOCAL plan_cache_mode = ${mode}` }, []);
        await tx.query(sql.MINED_UP_TO, ARGUMENTS(signer));
        await tx.query(sql.ANY_MINED, [DEV_CHAIN]);
        await tx.query(INSERT_CROWD, [DEV_CHAIN, signer, CROWD]);
        const settled = await looksOf(tx, sql.MINED_UP_TO, [
          String(DEV_CHAIN),
          `ARRAY['${signer}']`,
          '1010',
          '3010',
          '3010',
          '100',
          '0',
        ]);
        const { rows } = await tx.query<{ nonce: string }>(sql.MINED_UP_TO, ARGUMENTS(signer));
        expect(rows.map(({ nonce }) => nonce).sort()).toEqual(['2', '4', '6']);
        expect(settled.indexes).toEqual(new Set(['managed_tx_mined']));
        // One for each number in use, to jump to the next, and what is final.
        expect(settled.rows).toBeLessThan(60);
        const any = await looksOf(tx, sql.ANY_MINED, [String(DEV_CHAIN)]);
        expect(any).toEqual({ indexes: new Set(['managed_tx_mined']), rows: 1 });
      });
    });
  },
);
