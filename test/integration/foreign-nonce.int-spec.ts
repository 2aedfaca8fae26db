import { ANYONE } from '../../src/kernel/caller.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { describe, expect, it, jest } from '@jest/globals';
import { TxHistory } from '../../src/modules/events/index.js';
import { Log } from '../../src/platform/logging/log.js';
import { nodeLab } from '../support/node-lab.js';
import { OVERSIZED, onlyFor } from '../support/send-faults.js';
import { until } from '../support/until.js';

const lab = nodeLab();

describe('a nonce that a transaction of somebody else has used', () => {
  it('keeps the payload waiting until that is final, and then it gets another nonce', async () => {
    const txId = await sentAndTaken();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });

    lab.chain.mineEmpty(1);
    await look();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });

    lab.chain.mineEmpty(1);
    await look();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState: null, nonce: null, txHash: null });

    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect(lab.minedWith(1)).toHaveLength(1);
    expect(await reasons(txId)).toEqual(
      expect.arrayContaining([
        'nonce_reserved',
        'sent',
        'nonce_synced',
        'nonce_reserved',
        'sent',
        'mined',
        'confirmed',
      ]),
    );
  });

  it("is the payload's again when a reorg takes the other transaction back before it is final", async () => {
    const txId = await sentAndTaken();
    lab.chain.reorg(1, { drop: true });
    await look();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('counts from the new block when a reorg moved the other transaction', async () => {
    const txId = await sentAndTaken();
    lab.chain.reorg(1);
    lab.chain.mine();
    await look();
    // As many blocks as the first sighting needed.
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    lab.chain.mineEmpty(2);
    await look();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING' });
  });

  it('is asked about anew by the next owner', async () => {
    const txId = await sentAndTaken();
    lab.chain.mineEmpty(1);
    const next = await lab.takeOver();
    await next.step();
    await next.follow();
    lab.chain.mineEmpty(1);
    await look(next);
    // The first block was not this owner's to see.
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    lab.chain.mineEmpty(2);
    await look(next);
    expect(await lab.states([txId], next)).toEqual(['PENDING']);
  });

  it('waits for as long as a receipt may be stale where the chain cannot name who used it', async () => {
    lab.chain.namesUsers = false;
    const txId = await sentAndTaken();
    lab.chain.mineEmpty(5);
    await look();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });

    await lab.node.releaseLeases();
    const quick = await lab.startNode({ confirmations: { required: 2, staleReceiptTimeout: '1ms' } });
    await quick.step();
    await look(quick);
    lab.chain.mineEmpty(2);
    await look(quick);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', nonce: null });
  });

  it('ends a payload that was only waiting for its slot to be closed', async () => {
    lab.chain.faults.broadcast = onlyFor(1, {
      deliver: false,
      outcome: { kind: 'unknown', errorClass: 'transient', message: 'timeout' },
    });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    lab.chain.mine();
    await look();
    lab.chain.mineEmpty(2);
    await look();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data' });
    expect(lab.minedWith(1)).toEqual([]);
  });

  it('is no gap any more where a fill was waiting for it', async () => {
    const ids = await lab.gap();
    await lab.node.step();
    lab.chain.sendForeign(lab.node.signer().address, 1n);
    await lab.mine();
    // Sent again, and called used; seen to be passed; and passed still when that is final.
    await look();
    expect(await lab.openFills()).toMatchObject([{ subState: 'NONCE_SYNC' }]);
    lab.chain.mineEmpty(2);
    await look();
    expect(await lab.fills()).toMatchObject([{ state: 'DROPPED', nonce: 1 }]);
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
  });
});

describe('a fill', () => {
  it('has a history and attempts, and is in no list that does not ask for it', async () => {
    await lab.gap();
    await lab.node.step();
    await lab.confirmAll();
    const [fill] = await lab.fills();
    if (!fill) throw new Error('the gap is filled');
    const queries = lab.node.get(TxQueries);
    const entries = await lab.node.get(TxHistory).of(fill.txId);
    expect(entries.map(({ reason }) => reason)).toEqual(['nonce_reserved', 'signed', 'sent', 'mined', 'confirmed']);
    expect(await queries.attempts(fill.txId)).toMatchObject([{ kind: 'fill', status: 'MINED', nonce: 1 }]);
    const { items } = await queries.list({ kind: 'payload', signer: lab.node.signer().address, limit: 10 }, ANYONE);
    expect(items.map(({ kind }) => kind)).toEqual(['payload', 'payload', 'payload']);
  });
});

describe('a nonce below ours that is free again, and that we never had', () => {
  it('is filled when the chain stands still before it, also where resends are off', async () => {
    await lab.node.releaseLeases();
    const node = await lab.startNode({
      resubmit: { enabled: false },
      confirmations: { required: 2, staleReceiptTimeout: '100ms' },
    });
    lab.chain.sendForeign(node.signer().address, 0n);
    lab.chain.mine();
    const txId = await lab.create(1);
    await lab.stepTwice(node);
    expect(await node.tx(txId)).toMatchObject({ nonce: 1 });
    lab.chain.reorg(2, { drop: true });
    await node.follow();

    await until('the gap is filled', async () => {
      await lab.checkReceipts(node);
      await node.step();
      return (await lab.openFills(node)).length > 0;
    });
    await lab.confirmAll(node);
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    await node.step();
    expect(await lab.openFills(node)).toEqual([]);
  });

  it('is left to people when there are very many', async () => {
    await lab.node.releaseLeases();
    const node = await lab.startNode({
      resubmit: { enabled: false },
      confirmations: { required: 2, staleReceiptTimeout: '100ms' },
    });
    const logged = jest.spyOn(node.get(Log), 'error');
    const honest = lab.chain.transactionCounts.bind(lab.chain);
    lab.chain.transactionCounts = async (accounts) => accounts.map(() => 65n);
    const txId = await lab.create(1);
    await lab.stepTwice(node);
    lab.chain.transactionCounts = honest;
    expect(await node.tx(txId)).toMatchObject({ nonce: 65 });
    await until('somebody is told', async () => {
      await lab.checkReceipts(node);
      return logged.mock.calls.length > 0;
    });
    await node.step();
    expect(logged.mock.calls[0]?.[1]).toMatchObject({ chainNonce: 0n, missing: 65 });
    expect(await lab.openFills(node)).toEqual([]);
  });

  it('is left alone while a node only lags', async () => {
    await lab.node.releaseLeases();
    const node = await lab.startNode({ confirmations: { required: 2, staleReceiptTimeout: '1ms' } });
    for (const nonce of [0n, 1n, 2n]) lab.chain.sendForeign(node.signer().address, nonce);
    lab.chain.mine();
    const txId = await lab.create(1);
    await lab.stepTwice(node);
    const honest = lab.chain.transactionCounts.bind(lab.chain);
    for (const lag of [2n, 1n]) {
      lab.chain.transactionCounts = async (...asked) => (await honest(...asked)).map((count) => count - lag);
      await lab.checkReceipts(node);
    }
    lab.chain.transactionCounts = honest;
    await node.step();
    await lab.confirmAll(node);
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 3 });
    expect(lab.chain.sent.every(({ nonce }) => nonce === 3n)).toBe(true);
  });
});

describe('a nonce of ours', () => {
  it('is not given up while a block has our transaction, however long receipts are denied and whatever is forgotten', async () => {
    const node = await lab.startNode({ confirmations: { required: 1, staleReceiptTimeout: '1ms' } });
    await lab.node.releaseLeases();
    const txId = await lab.create(1);
    await node.step();
    lab.chain.faults.receipt = () => ({ kind: 'none' });
    lab.chain.mine();
    await look(node);
    // As when that block and its state are pruned: nobody can be named any more.
    lab.chain.namesUsers = false;
    const honest = lab.chain.blocks.bind(lab.chain);
    const { number: minedIn } = await lab.chain.head();
    lab.chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block?.number === minedIn ? null : block));
    for (const _ of [1, 2, 3]) {
      lab.chain.mineEmpty(2);
      await look(node);
    }
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('is not given up by one look, even when its block is final at once: nonce and receipt may be answered as of two blocks', async () => {
    const node = await lab.startNode({ confirmations: { required: 1 } });
    await lab.node.releaseLeases();
    const txId = await lab.create(1);
    await node.step();
    lab.chain.faults.receipt = () => ({ kind: 'none' });
    lab.chain.mine();
    const honest = lab.chain.nonceUses.bind(lab.chain);
    lab.chain.nonceUses = async (slots) => {
      lab.chain.nonceUses = honest;
      const head = await lab.chain.head();
      lab.chain.mineEmpty(1);
      return slots.map(() => ({ kind: 'passed', head, user: null }));
    };
    await lab.resubmit(node);
    await node.checkReceipts();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });
    delete lab.chain.faults.receipt;
    await look(node);
    lab.chain.mineEmpty(1);
    await node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('is not given up by looks that come fast, behind a URL whose nodes have the nonce and lack the receipt', async () => {
    const txId = await lab.sent(1);
    lab.chain.faults.receipt = () => ({ kind: 'none' });
    lab.chain.nonceUses = async (slots) => {
      const head = await lab.chain.head();
      return slots.map(() => ({ kind: 'passed', head, user: null }));
    };
    lab.chain.mine();
    for (const _ of [1, 2, 3]) {
      lab.chain.mineEmpty(2);
      await look();
    }
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', nonce: 0 });
  });

  it('that was mined is never given up, however long its receipt is denied', async () => {
    const txId = await lab.sent(1);
    lab.chain.faults.receipt = () => ({ kind: 'none' });
    lab.chain.mine();
    lab.chain.mineEmpty(3);
    await look();
    await look();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    delete lab.chain.faults.receipt;
    await look();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });
});

/** A payload that is out with nonce 0, which somebody else then used; and the node has noticed. */
async function sentAndTaken(): Promise<string> {
  const txId = await lab.sent(1);
  lab.chain.sendForeign(lab.node.signer().address, 0n);
  lab.chain.mine();
  await look();
  return txId;
}

/** Follows the chain, sends again, and asks for the receipts. */
async function look(by = lab.node): Promise<void> {
  await by.follow();
  await lab.resubmit(by);
  await by.checkReceipts();
}

async function reasons(txId: string): Promise<string[]> {
  return (await lab.node.get(TxHistory).of(txId)).map(({ reason }) => reason);
}
