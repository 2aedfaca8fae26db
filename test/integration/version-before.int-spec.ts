import { expect, it } from '@jest/globals';
import { TxQueries } from '../../src/modules/transactions/application/queries/tx-views.js';
import { Database } from '../../src/platform/database/database.js';
import { migrationSql } from '../../src/platform/database/migrations.js';
import { nodeLab } from '../support/node-lab.js';
import { OVERSIZED, onlyFor } from '../support/send-faults.js';

const lab = nodeLab();

/** Rows of fills as the version before has them; the tables stay as they are, for both versions run side by side. */
async function rewriteAsBefore(): Promise<void> {
  const statements = migrationSql('1763712000017-fills', 'down').split(/;\n/);
  const rows = statements.filter((sql) => /^(UPDATE|DELETE)/m.test(sql));
  for (const [n, text] of rows.entries())
    await lab.node.get(Database).query({ name: `test_rewrite_as_before_${n}`, text }, []);
}

it('a fill that the version before sent is sent again, the same bytes, and is mined and final like every fill', async () => {
  lab.chain.faults.broadcast = onlyFor(2, OVERSIZED);
  const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
  await lab.node.step();
  const [before] = await lab.openFills();
  await rewriteAsBefore();

  const node = await lab.takeOver();
  expect(await lab.openFills(node)).toEqual([]);
  await node.step();
  await node.step();

  const [fill] = await lab.openFills(node);
  expect(fill).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1, txHash: before?.txHash });
  expect(await node.get(TxQueries).attempts(fill?.txId ?? '')).toMatchObject([{ txHash: before?.txHash }]);
  await lab.confirmAll(node);
  expect(await lab.fills(node)).toMatchObject([{ txId: fill?.txId, state: 'CONFIRMED', txHash: before?.txHash }]);
  expect(await lab.states(ids, node)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
});
