import { describe, expect, it } from '@jest/globals';
import { type TxState } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';
import { OVERSIZED, onlyFor, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();

/** The state after each of so many further blocks, the node having looked at each. */
async function statesByDepth(txId: string, blocks: number, by: TestNode = lab.node): Promise<TxState[]> {
  const states = await lab.states([txId], by);
  for (let n = 0; n < blocks; n += 1) {
    lab.chain.mineEmpty();
    await by.follow();
    states.push(...(await lab.states([txId], by)));
  }
  return states;
}

/** A node for which `safe` is three blocks below the head, and two blocks on top would do by depth. */
async function safeNode(): Promise<TestNode> {
  lab.chain.tagLag = { safe: 3, finalized: 5 };
  return lab.startNode({ confirmations: { finality: 'safe', required: 2 } });
}

async function minedBy(node: TestNode, tag: number, confirmations: number | null = null): Promise<string> {
  const txId = await lab.create(tag, { confirmations });
  await node.step();
  await lab.mine(node);
  return txId;
}

/** Counts how often the node is asked for a block under a tag. */
function countTagQuestions(): () => number {
  let count = 0;
  const taggedHead = lab.chain.taggedHead.bind(lab.chain);
  lab.chain.taggedHead = async (tag) => {
    count += 1;
    return taggedHead(tag);
  };
  return () => count;
}

const M = 'MINED';
const C = 'CONFIRMED';
const F = 'FAILED';

describe('a chain of which one endpoint speaks alone', () => {
  it('has final transactions a block later, for the head counts when a later one was seen', async () => {
    lab.chain.speaksAlone = true;
    const txId = await minedBy(lab.node, 1, 2);
    expect(await statesByDepth(txId, 4)).toEqual([M, M, M, C, C]);
  });

  it('has none by a head that is gone at the next look', async () => {
    lab.chain.speaksAlone = true;
    const txId = await minedBy(lab.node, 1, 2);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    lab.chain.reorg(2);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual([M]);
  });
});

describe('a head that not all endpoints have', () => {
  it('makes nothing final: depth is counted from the newest block that they agree on', async () => {
    const honest = lab.chain.agreedBlocks.bind(lab.chain);
    lab.chain.agreedBlocks = async (numbers) =>
      (await honest(numbers)).map((agreed, i) => (numbers[i] === lab.chain.height ? null : agreed));
    const txId = await minedBy(lab.node, 1, 2);
    expect(await statesByDepth(txId, 3)).toEqual([M, M, M, C]);
  });
});

describe('a request with confirmations of its own', () => {
  it.each([
    ['none', 0, [C, C, C, C, C]],
    ['fewer than the chain asks for', 1, [M, C, C, C, C]],
    ['no number: the chain’s', null, [M, M, C, C, C]],
    ['more than the chain asks for', 3, [M, M, M, C, C]],
  ])('is final at its own depth: %s', async (_words, confirmations, expected) => {
    const txId = await minedBy(lab.node, 1, confirmations);
    expect((await lab.node.tx(txId)).confirmations).toBe(confirmations);
    expect(await statesByDepth(txId, 4)).toEqual(expected);
  });

  it('is settled at its own height, beside others of the same and of other blocks', async () => {
    const first = [
      await lab.create(1, { confirmations: 4 }),
      await lab.create(2),
      await lab.create(3, { confirmations: 0 }),
    ];
    await lab.node.step();
    await lab.mine();
    const second = await minedBy(lab.node, 4, 1);
    const ids = [...first, second];
    const seen = [await lab.states(ids)];
    for (let n = 0; n < 3; n += 1) {
      lab.chain.mineEmpty();
      await lab.node.follow();
      seen.push(await lab.states(ids));
    }
    expect(seen).toEqual([
      [M, M, C, M],
      [M, C, C, C],
      [M, C, C, C],
      [C, C, C, C],
    ]);
  });

  it('is FAILED by a revert only when that is as deep', async () => {
    lab.chain.faults.status = () => 'reverted';
    const txId = await minedBy(lab.node, 1, 3);
    expect(await statesByDepth(txId, 3)).toEqual([M, M, M, F]);
  });

  it('goes back to the mempool with its block, and waits for its depth anew', async () => {
    const txId = await minedBy(lab.node, 1, 3);
    lab.chain.mineEmpty();
    await lab.node.follow();
    lab.chain.reorg(2);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.mine();
    expect(await statesByDepth(txId, 3)).toEqual([M, M, M, C]);
  });

  it('is another request without them', async () => {
    await lab.create(1, { confirmations: 3 });
    await expect(lab.create(1, { confirmations: 4 })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await expect(lab.create(1)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});

describe('a chain that goes by a tag', () => {
  it('makes final what the tag has reached, whatever the depth', async () => {
    const node = await safeNode();
    const txId = await minedBy(node, 1);
    expect(await statesByDepth(txId, 3, node)).toEqual([M, M, M, C]);
  });

  it.each([
    ['the tag when that comes later', 1, [M, M, M, C, C, C]],
    ['its own when that comes later', 4, [M, M, M, M, C, C]],
  ])('makes a request with confirmations of its own wait for both: %s', async (_words, confirmations, expected) => {
    const node = await safeNode();
    const txId = await minedBy(node, 1, confirmations);
    expect(await statesByDepth(txId, 5, node)).toEqual(expected);
  });

  it('makes a revert FAILED no sooner', async () => {
    lab.chain.faults.status = () => 'reverted';
    const node = await safeNode();
    const txId = await minedBy(node, 1);
    expect(await statesByDepth(txId, 3, node)).toEqual([M, M, M, F]);
  });

  it('makes nothing final while the node does not know the tag, and everything that is due once it does', async () => {
    const node = await safeNode();
    lab.chain.tagLag = null;
    const ids = [await minedBy(node, 1), await minedBy(node, 2, 0)];
    lab.chain.mineEmpty(30);
    await node.follow();
    expect(await lab.states(ids, node)).toEqual([M, M]);
    lab.chain.tagLag = { safe: 3, finalized: 5 };
    lab.chain.mineEmpty();
    await node.follow();
    expect(await lab.states(ids, node)).toEqual([C, C]);
  });

  it('is asked for the tag once per look, however many are MINED, and not when nothing is', async () => {
    const node = await safeNode();
    const questions = countTagQuestions();
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await node.step();
    await node.follow();
    expect(questions()).toBe(0);
    await lab.mine(node);
    expect(questions()).toBe(1);
    lab.chain.mineEmpty(3);
    await node.follow();
    expect(await lab.states(ids, node)).toEqual([C, C, C]);
    expect(questions()).toBe(2);
    lab.chain.mineEmpty();
    await node.follow();
    expect(questions()).toBe(2);
  });

  it('consumes the slot of a fill when the tag has reached it', async () => {
    const node = await safeNode();
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    await lab.create(1);
    await lab.create(2);
    await node.step();
    await node.step();
    await lab.mine(node);
    expect(lab.minedWith(1)).toEqual([]);
    expect(lab.chain.minedTxs().map(({ data }) => data)).toEqual(['0x', tagged(2)]);
    const slots: string[] = [];
    for (let depth = 0; depth <= 3; depth += 1) {
      slots.push(await slotStatus(0));
      lab.chain.mineEmpty();
      await node.follow();
    }
    expect(slots).toEqual(['HELD', 'HELD', 'HELD', 'CONSUMED']);
  });
});

async function slotStatus(nonce: number): Promise<string> {
  const { rows } = await lab.node.get(Database).query<{
    status: string;
  }>({ name: 'test_slot', text: 'SELECT status FROM signer_nonce_allocation WHERE nonce = $1' }, [nonce]);
  return rows[0]?.status ?? 'none';
}
