import { describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();

/** Whole seconds from the last send to the next one, and to the next look at the receipt. */
async function secondsToNext(): Promise<unknown> {
  const { rows } = await lab.node.get(Database).query(
    {
      name: 'test_seconds',
      text: `SELECT round(extract(epoch FROM next_resubmit_at - last_submit_at))::int AS send,
                    round(extract(epoch FROM next_receipt_check_at - last_submit_at))::int AS receipt FROM managed_tx`,
    },
    [],
  );
  return rows[0];
}

async function nodeWith(config: Record<string, unknown>): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode(config);
}

describe('after a send', () => {
  it.each([
    ['the first', 0],
    ['a later', 1],
  ])(
    'the next one is due after resubmit.interval, the receipt after staleReceiptTimeout (%s one)',
    async (_which, more) => {
      const node = await nodeWith({
        resubmit: { interval: '45s' },
        confirmations: { required: 2, staleReceiptTimeout: '25s' },
      });
      await lab.create(1);
      await node.step();
      for (let n = 0; n < more; n += 1) await lab.resubmit(node);
      expect(await secondsToNext()).toEqual({ send: 45, receipt: 25 });
    },
  );

  it('the receipt is asked for at once where the chain is that fast', async () => {
    const node = await nodeWith({ confirmations: { required: 2, fetchReceiptUponEntry: true } });
    const txId = await lab.create(1);
    await node.step();
    expect(await secondsToNext()).toEqual({ send: 60, receipt: 0 });
    lab.chain.mine();
    await node.checkReceipts();
    expect(await lab.states([txId], node)).toEqual(['MINED']);
  });

  it('nothing is due before its time', async () => {
    const txId = await lab.sent(1);
    lab.chain.mine();
    await lab.node.resubmit();
    await lab.node.checkReceipts();
    expect([lab.chain.sent.length, await lab.states([txId])]).toEqual([1, ['IN_MEMPOOL']]);
  });
});
