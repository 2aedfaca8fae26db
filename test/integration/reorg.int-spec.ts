import { describe, expect, it } from '@jest/globals';
import { type HistoryEntry, TxHistory } from '../../src/modules/events/index.js';
import { AttemptRepository } from '../../src/modules/ledger/index.js';
import { nodeLab } from '../support/node-lab.js';
import { onlyFor, OVERSIZED, timedOut } from '../support/send-faults.js';

const lab = nodeLab();

describe('a reorg deeper than what was called final', () => {
  it('opens a confirmed tx again, and it is confirmed in its new block', async () => {
    const txId = await confirmed(1);
    lab.chain.reorg(3);
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('that loses a confirmed tx has the same bytes sent again', async () => {
    const txId = await confirmed(1);
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    await lab.node.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(new Set(lab.chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });

  it('turns a revert into a success', async () => {
    lab.chain.faults.status = () => 'reverted';
    const txId = await confirmed(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted' });
    delete lab.chain.faults.status;
    lab.chain.reorg(3);
    await lab.node.follow();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('opens a filled gap again, so that nothing behind it waits for ever', async () => {
    const ids = await lab.filledGap();
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    expect(await lab.openFills()).toHaveLength(1);
    await lab.node.step();
    await lab.node.resubmit();
    await lab.confirmAll();
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
    expect(await lab.openFills()).toEqual([]);
  });

  it('leaves alone what was mined before it', async () => {
    const before = await confirmed(1);
    const after = await confirmed(2);
    lab.chain.reorg(3);
    await lab.node.follow();
    expect(await lab.states([before, after])).toEqual(['CONFIRMED', 'IN_MEMPOOL']);
  });

  it('is dealt with by whoever takes an idle signer over', async () => {
    const txId = await confirmed(1);
    await lab.node.releaseLeases();
    lab.chain.reorg(3);
    const other = await lab.startNode();
    await other.follow();
    expect(await lab.states([txId], other)).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll(other);
    expect(await lab.states([txId], other)).toEqual(['CONFIRMED']);
  });

  it('that another node saw is found by the next owner, when the one that was to act has died', async () => {
    const txId = await confirmed(1);
    const witness = await lab.startNode();
    await witness.follow();
    lab.chain.reorg(3);
    // The owner holds the lease, and does nothing any more.
    await witness.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    const next = await lab.takeOver();
    lab.chain.mineEmpty(1);
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
  });

  // Found by seed 204 of the simulator: the owner went from one branch to a third, and never heard of what was final in the second.
  it('opens what another node confirmed in a branch that the owner of now never followed', async () => {
    const next = await lab.startNode();
    await next.follow();
    const txId = await lab.sent(1);
    lab.chain.mineEmpty(4);
    await next.follow();
    lab.chain.reorg(2);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);

    lab.chain.reorg(lab.chain.height - 2, { drop: true });
    await lab.node.releaseLeases();
    await next.step();
    await next.follow();
    lab.chain.mineEmpty(1);
    await next.follow();
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
  });
});

describe('a reorg of what was mined and not final yet', () => {
  it('has its attempts open again: none of them is mined any more, and none has lost', async () => {
    const txId = await lab.mined(1);
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    const attempts = await lab.node.get(AttemptRepository).ofSlots([{ signer: lab.node.signer(), nonce: 0n }]);
    expect(attempts).toMatchObject([{ txId, status: 'UNKNOWN' }]);
    await lab.node.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(new Set(lab.chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });
});

describe('a reorg that has another attempt mined', () => {
  it('ends with what the chain says in the end: the payload was executed, and not the no-op that had closed its slot', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: false });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    await lab.resubmit();
    await lab.resubmit();
    await lab.mine();
    const [payload, noOp] = await lab.node.get(AttemptRepository).ofSlots([{ signer: lab.node.signer(), nonce: 0n }]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', txHash: noOp?.txHash });

    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    delete lab.chain.faults.broadcast;
    // It had been in some other node's pool all the time.
    if (payload) await lab.chain.broadcast([{ hash: payload.txHash, raw: payload.raw }]);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'CONFIRMED',
      txHash: payload?.txHash,
      failureReason: null,
    });
    expect(lab.minedWith(1)).toHaveLength(1);
  });
});

describe('the events of a tx', () => {
  it('tell each confirmation once, and a new fork before anything of the new branch', async () => {
    const txId = await lab.mined(1);
    const [first] = await lab.node
      .get(TxHistory)
      .of(txId)
      .then((all) => all.filter(tells));
    lab.chain.reorg(1);
    await lab.node.follow();
    await lab.confirmAll();
    const after = await lab.node.tx(txId);
    const block = after.receipt?.blockNumber ?? 0;
    const told = (await lab.node.get(TxHistory).of(txId)).filter(tells);

    expect(first?.detail).toMatchObject({ newFork: false, confirmations: { from: 1, to: 1 } });
    expect(told.map(({ reason }) => reason)).toEqual(['mined', 'reorg_detected', 'mined', 'confirmed']);
    expect(told.map(({ detail }) => detail?.['newFork'])).toEqual([false, true, false, false]);
    expect(told.slice(1).map(({ detail }) => detail?.['confirmations'])).toEqual([
      null,
      { from: block, to: block, hash: after.receipt?.blockHash },
      { from: block + 1, to: block + 2, hash: (await lab.chain.head()).hash },
    ]);
  });
});

function tells({ detail }: HistoryEntry): boolean {
  return detail !== null && 'newFork' in detail;
}

async function confirmed(tag: number): Promise<string> {
  const txId = await lab.sent(tag);
  await lab.confirmAll();
  return txId;
}
