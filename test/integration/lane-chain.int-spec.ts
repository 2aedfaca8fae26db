import { describe, expect, it, jest } from '@jest/globals';
import { RpcUnavailable } from '../../src/modules/chain/index.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

describe('a reorg', () => {
  it('sends a tx back to the mempool, and it is confirmed in its new block', async () => {
    const txId = await lab.mined(1);
    const before = await lab.node.tx(txId);
    expect(before.state).toBe('MINED');
    lab.chain.reorg(1);
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    await lab.confirmAll();
    const after = await lab.node.tx(txId);
    expect(after).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(after.receipt?.blockHash).not.toBe(before.receipt?.blockHash);
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('that loses the tx has it sent again, the same bytes', async () => {
    const txId = await lab.mined(1);
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    await lab.node.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(new Set(lab.chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });

  it('is not seen in a node that merely lags', async () => {
    const txId = await lab.sent(1);
    await lab.node.follow();
    lab.chain.mine();
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    lab.lag();
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });
});

describe('a gap', () => {
  it('of blocks that nobody looked at has the receipts of everything in flight asked for', async () => {
    const txId = await lab.sent(1);
    lab.chain.mine();
    lab.chain.mineEmpty(1);
    // The first look of this node is at a block after that of the tx.
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });
});

describe('an hour without a look', () => {
  it('is walked block by block, many to a call, and what was mined in it is found without asking for receipts by hash', async () => {
    await lab.node.follow();
    const txId = await lab.sent(1);
    lab.chain.mineEmpty(100);
    lab.chain.mine();
    lab.chain.mineEmpty(199);
    const calls = jest.spyOn(lab.chain, 'blocks');
    await lab.node.follow();
    // The first blocks of the chain are asked for by themselves: is it still the same chain (K8)?
    const asked = calls.mock.calls.flatMap(([numbers]) => (numbers.includes(0) ? [] : [numbers.length]));
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(Math.max(...asked)).toBe(50);
    calls.mockRestore();
  });
});

describe('a block', () => {
  it('whose receipts the node does not have yet is asked about again at once', async () => {
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.blockReceipts = async () => null;
    await lab.mine();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.node.checkReceipts();
    expect(await lab.states(ids)).toEqual(['MINED', 'MINED']);
  });

  it('whose receipts nobody answers for does not keep the chain from being followed', async () => {
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.blockReceipts = () =>
      Promise.reject(
        new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'eth_getBlockReceipts' }, 'timeout'),
      );
    await lab.mine();
    await lab.node.checkReceipts();
    expect(await lab.states(ids)).toEqual(['MINED', 'MINED']);
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('that came while our lease was in doubt has its receipts asked for when it is ours again', async () => {
    const txId = await lab.sent(1);
    const inDoubt = jest.spyOn(lab.node.get(LeaseManager), 'held').mockReturnValue(null);
    await lab.mine();
    inDoubt.mockRestore();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });

  it('below the first one that a node followed is no reorg', async () => {
    const txId = await lab.sent(1);
    lab.chain.mine();
    const late = await lab.takeOver();
    await late.step();
    await late.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
    await late.follow();
    lab.lag();
    await late.follow();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });
});

describe('a receipt', () => {
  it('is read again before it is final: a revert that was told wrongly fails nobody', async () => {
    lab.chain.faults.status = () => 'reverted';
    const txId = await lab.mined(1);
    expect((await lab.node.tx(txId)).receipt).toMatchObject({ status: 'reverted' });
    delete lab.chain.faults.status;
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    // Two answers differ: neither is believed before it was given twice.
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', receipt: { status: 'success' } });
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('that cannot be read again decides nothing', async () => {
    const txId = await lab.mined(1);
    lab.chain.faults.receipt = () => ({ kind: 'unavailable', message: 'indexing is in progress' });
    lab.chain.mineEmpty(3);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['MINED']);
    delete lab.chain.faults.receipt;
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });
});
