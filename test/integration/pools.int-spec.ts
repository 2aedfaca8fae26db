import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { Database } from '../../src/platform/database/database.js';
import { ReadDatabase } from '../../src/platform/database/pools.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();
/** More than the lanes of the lab have, which is 4, and than its reads have, which is 2. */
const MANY = { lanes: 8, reads: 4 };
const SLOW_MS = 2_000;

describe('connections', () => {
  it('leases are renewed at once while every connection of the lanes is busy', async () => {
    const leases = lab.node.get(LeaseManager);
    await leases.acquireOrRenew([lab.node.signer()]);
    const busy = sleeping(lab.node.get(Database));
    const startedAt = performance.now();
    await leases.renewAll();
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS / 2);
    await busy;
  });

  it('the API answers while every connection of the lanes is busy', async () => {
    const txId = await lab.sent(1);
    const busy = sleeping(lab.node.get(Database));
    const startedAt = performance.now();
    expect(await lab.node.get(TxQueries).find(txId, ANYONE)).toMatchObject({ state: 'IN_MEMPOOL' });
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS / 2);
    await busy;
  });

  it('neither lanes nor leases wait for slow reads', async () => {
    const txId = await lab.create(1);
    const busy = sleeping(lab.node.get(ReadDatabase), MANY.reads);
    const startedAt = performance.now();
    await lab.node.step();
    await lab.node.get(LeaseManager).renewAll();
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS / 2);
    await busy;
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL' });
  });
});

/** So many statements that each take as long. */
async function sleeping(database: Database, many = MANY.lanes): Promise<void> {
  const slow = { name: 'test_slow', text: `SELECT pg_sleep(${SLOW_MS / 1_000})` };
  await Promise.all(Array.from({ length: many }, () => database.query(slow, [])));
}
