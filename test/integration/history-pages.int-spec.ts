import { expect, it } from '@jest/globals';
import { TxHistory } from '../../src/modules/events/index.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

/** As a tx that was sent again for weeks has them. */
const RESUBMITTED = {
  name: 'test_resubmitted',
  text: `
    INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id)
    SELECT 31337, $1::uuid, 'resubmitted', 'IN_MEMPOOL', 'node-1' FROM generate_series(1, $2::int)`,
};

it('a long history comes in pages, each after the one before, and nothing is left out', async () => {
  const txId = await lab.create(1);
  await lab.node.get(Database).query(RESUBMITTED, [txId, 2_500]);
  const history = lab.node.get(TxHistory);
  const pages = [await history.of(txId)];
  for (let last = pages[0]?.at(-1); last !== undefined; last = pages.at(-1)?.at(-1)) {
    pages.push(await history.of(txId, { after: last.seq, limit: 1_000 }));
  }
  expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 501, 0]);
  const seqs = pages.flat().map(({ seq }) => BigInt(seq));
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => (a < b ? -1 : 1)));
});
