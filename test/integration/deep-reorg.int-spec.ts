import { LeaseManager } from '../../src/modules/signers/index.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../src/modules/chain/index.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();

/** More blocks than are walked after a pause. */
const LONG_GAP = 1_100;
const NO_ANSWER = new RpcUnavailable(
  'rpc_unavailable',
  { chainId: DEV_CHAIN, method: 'eth_getTransactionCount' },
  'no answer',
);

describe('a filled gap that a deep reorg opens while its signer is another node’s', () => {
  it('is filled again as soon as the lease can be had', async () => {
    const ids = await lab.filledGap();
    const witness = await startWitness();
    lab.chain.reorg(3, { drop: true });
    await witness.follow();
    expect(await lab.openFills(witness)).toEqual([]);
    lab.chain.mineEmpty(1);
    await witness.follow();
    await lab.node.releaseLeases();
    lab.chain.mineEmpty(1);
    await witness.follow();
    expect(await lab.openFills(witness)).toHaveLength(1);
    await settleAll(witness);
    expect(await lab.states(ids, witness)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });

  it('is filled again by a node that starts later', async () => {
    const ids = await lab.filledGap();
    const witness = await startWitness();
    lab.chain.reorg(3, { drop: true });
    await witness.follow();
    const next = await lab.takeOver();
    lab.chain.mineEmpty(1);
    await next.follow();
    expect(await lab.openFills(next)).toHaveLength(1);
    await settleAll(next);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
  });

  it('is left alone when its owner has seen to it', async () => {
    await lab.filledGap();
    const witness = await startWitness();
    lab.chain.reorg(3);
    await witness.follow();
    await lab.node.follow();
    await lab.confirmAll();
    await lab.node.step();
    expect(await lab.openFills()).toEqual([]);
    await lab.node.releaseLeases();
    await witness.follow();
    lab.chain.mineEmpty(1);
    await witness.follow();
    expect(await lab.openFills(witness)).toEqual([]);
  });
});

describe('a final tx on another branch that one endpoint tells alone', () => {
  it('is opened at the second look, at a later block', async () => {
    const txId = await lab.sent(1);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    lab.chain.speaksAlone = true;
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });
});

describe('a nonce of somebody else that a deep reorg frees', () => {
  it('is filled, so that nothing behind it waits for ever', async () => {
    const txId = await movedBehindForeign();
    lab.chain.reorg(7, { drop: true });
    await lab.node.follow();
    expect(await openNonces()).toEqual([0n]);
    await settleAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect(lab.minedWith(1)).toHaveLength(1);
    expect(lab.chain.minedTxs().map(({ nonce, data }) => [nonce, data.length > 4])).toEqual([
      [0n, false],
      [1n, true],
    ]);
    expect(await openNonces()).toEqual([]);
  });

  it('is not filled while it is used on the new branch, too', async () => {
    const txId = await movedBehindForeign();
    lab.chain.reorg(7);
    lab.chain.mine();
    await lab.node.follow();
    await lab.confirmAll();
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await openNonces()).toEqual([]);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(lab.chain.minedTxs()).toHaveLength(2);
  });

  it.each([
    ['had not seen the reorg yet', async (accounts: readonly unknown[]) => accounts.map(() => 2n)],
    ['did not answer', async () => Promise.reject(NO_ANSWER)],
  ])('is filled although the node that was asked for it %s at first', async (_words, counts) => {
    await movedBehindForeign();
    lab.chain.reorg(7, { drop: true });
    const honest = lab.chain.transactionCounts.bind(lab.chain);
    lab.chain.transactionCounts = counts;
    await lab.node.follow();
    expect(await openNonces()).toEqual([]);
    lab.chain.transactionCounts = honest;
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await openNonces()).toEqual([0n]);
  });

  it('goes back to the foreign transaction when that is mined first', async () => {
    const txId = await movedBehindForeign();
    lab.chain.reorg(7, { drop: true });
    await lab.node.follow();
    await lab.node.step();
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    await settleAll();
    lab.chain.mineEmpty(3);
    await lab.node.follow();
    await lab.node.step();
    expect(await openNonces()).toEqual([]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect(lab.minedWith(1)).toHaveLength(1);
  });
});

/** A head far ahead is believed at the second look. */
async function jumpTheGap(): Promise<void> {
  await lab.node.follow();
  await lab.node.follow();
}

describe('a reorg that reaches below the blocks that are followed', () => {
  // The first block stays: a chain with another one is another chain (docs/invariants.md, K8).
  beforeEach(() => lab.chain.mineEmpty(3));

  it('opens what was final in the blocks before a gap that is jumped', async () => {
    const txId = await lab.sent(1);
    await lab.confirmAll();
    lab.chain.reorg(3);
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('opens what was final before the first of them, and nothing that is on the chain still', async () => {
    const before = await confirmed(1);
    const ids = [await confirmed(2), await confirmed(3)];
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    lab.chain.reorg(LONG_GAP + 6);
    await lab.node.follow();
    expect(await lab.states([before, ...ids])).toEqual(['CONFIRMED', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.confirmAll();
    expect(await lab.states([before, ...ids])).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
  });

  // Found by seed 1064 of the simulator.
  it('opens what was final before the first of them when the one who found it died before it could', async () => {
    const txId = await confirmed(1);
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    lab.chain.speaksAlone = true;
    lab.chain.reorg(LONG_GAP + 3);
    await lab.node.follow();
    // One endpoint has told the other block only once.
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    const next = await lab.takeOver();
    for (let look = 0; look < 2; look += 1) {
      lab.chain.mineEmpty(1);
      await next.follow();
    }
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
  });

  // Found by seed 437 of the simulator.
  it('opens what was final before the first of them although the node did not have its block at first', async () => {
    const txId = await confirmed(1);
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    lab.chain.reorg(LONG_GAP + 3);
    const blocks = lab.chain.blocks.bind(lab.chain);
    lab.chain.blocks = async (numbers) =>
      (await blocks(numbers)).map((block) => (block && block.number < 7 ? null : block));
    await lab.node.follow();
    lab.chain.blocks = blocks;
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });

  it('opens all that was final, however much of it one signer has', async () => {
    const ids: string[] = [];
    for (let block = 0; block < 3; block += 1) {
      for (let n = 0; n < 40; n += 1) ids.push(await lab.create(ids.length + 1));
      await lab.node.step();
      await lab.mine();
    }
    await lab.confirmAll();
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    // All of it takes about as long as a lease, and nobody renews it here.
    await lab.node.get(LeaseManager).renewAll();
    lab.chain.reorg(LONG_GAP + 6);
    await lab.node.follow();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['IN_MEMPOOL']));
    await lab.node.get(LeaseManager).renewAll();
    await lab.confirmAll();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['CONFIRMED']));
    expect(lab.chain.minedTxs()).toHaveLength(ids.length);
  });

  it('opens what was final below a block that no node has any more', async () => {
    const older = await confirmed(1);
    const height = lab.chain.height + 1;
    const newest = await confirmed(2);
    lab.chain.mineEmpty(LONG_GAP);
    await jumpTheGap();
    lab.chain.reorg(lab.chain.height - 3);
    const honest = lab.chain.blocks.bind(lab.chain);
    lab.chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block?.number === height ? null : block));
    await lab.node.follow();
    expect(await lab.states([older, newest])).toEqual(['IN_MEMPOOL', 'CONFIRMED']);
  });

  it('has the receipts asked for of what was mined in blocks of the new branch that nobody looked at', async () => {
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    const txId = await lab.sent(1);
    lab.chain.reorg(2);
    lab.chain.mine();
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });
});

async function confirmed(tag: number): Promise<string> {
  const txId = await lab.sent(tag);
  await lab.confirmAll();
  return txId;
}

/** A node that follows the chain beside the owner of the lease. */
async function startWitness(): Promise<TestNode> {
  const witness = await lab.startNode();
  await witness.follow();
  return witness;
}

/** A payload whose first nonce, 0, somebody else used for good, and which is final with the next one; seven blocks in all. */
async function movedBehindForeign(): Promise<string> {
  const txId = await lab.sent(1);
  lab.chain.sendForeign(lab.node.signer().address, 0n);
  lab.chain.mine();
  await look();
  lab.chain.mineEmpty(2);
  await look();
  await lab.node.step();
  await lab.confirmAll();
  lab.chain.mineEmpty(1);
  await lab.node.follow();
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
  return txId;
}

async function look(): Promise<void> {
  await lab.node.follow();
  await lab.resubmit();
  await lab.node.checkReceipts();
}

async function openNonces(): Promise<bigint[]> {
  return (await lab.openFills()).map(({ nonce }) => BigInt(nonce ?? -1));
}

/** Sends what is open, and has it mined and made final. */
async function settleAll(by = lab.node): Promise<void> {
  await by.step();
  await lab.resubmit(by);
  await lab.confirmAll(by);
  await by.step();
}
