import { describe, expect, it } from '@jest/globals';
import { TxQueries } from '../../src/modules/transactions/application/tx-views.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

describe('a look at the states of long polls', () => {
  it('takes 66,000 of them, more than a statement has parameters', async () => {
    const txId = await lab.sent(1);
    const others = Array.from(
      { length: 66_000 },
      (_, n) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
    );
    expect(await lab.node.get(TxQueries).states([...others, txId])).toEqual(new Map([[txId, 'IN_MEMPOOL']]));
  });
});
