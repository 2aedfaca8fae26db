import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BroadcastOutcome, GasEstimate } from '../../src/modules/chain/index.js';
import { Database } from '../../src/platform/database/database.js';
import { makeDue, makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { NOT_SENT, onlyFor, refused, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();
const PAYLOADS = 100;
const POISON = 50;
const tags = Array.from({ length: PAYLOADS }, (_, index) => index + 1);
const REVERT: GasEstimate = { kind: 'reverted', reason: 'poison' };

async function createAll(): Promise<string[]> {
  const ids: string[] = [];
  for (const tag of tags) ids.push(await lab.create(tag));
  return ids;
}

/** 99 are CONFIRMED, the poison is FAILED with these words, and every nonce up to the last is used, by payloads and at most one no-op. */
async function expectOneLost(ids: readonly string[], words: string): Promise<void> {
  const poison = await lab.node.tx(ids[POISON - 1] ?? '');
  expect(poison).toMatchObject({ state: 'FAILED', failureReason: expect.stringContaining(words) });
  const others = (await lab.states(ids)).filter((_, index) => index !== POISON - 1);
  expect(others).toEqual(new Array(PAYLOADS - 1).fill('CONFIRMED'));
  expect(lab.minedWith(POISON)).toEqual([]);
  const mined = lab.chain.minedTxs();
  expect(mined.map(({ nonce }) => nonce)).toEqual(mined.map((_, index) => BigInt(index)));
  expect(mined.length - others.length).toBeLessThanOrEqual(1);
}

describe('a poison payload at position 50 of 100, which the simulation finds', () => {
  it.each<[string, GasEstimate]>([
    ['that reverts', REVERT],
    ['that needs more gas than a block has', { kind: 'rejected', message: 'gas required exceeds allowance' }],
  ])('%s takes no nonce: 99 CONFIRMED in one block, 1 FAILED with the words of the node', async (_what, estimate) => {
    const node = await wideNode();
    lab.chain.faults.estimate = onlyFor(POISON, estimate);
    const ids = await createAll();
    await node.step();
    await lab.mine(node);
    expect(lab.chain.minedTxs()).toHaveLength(PAYLOADS - 1);
    await makeWaitingDue(node);
    await node.step();
    lab.chain.mineEmpty();
    await node.follow();
    await makeWaitingDue(node);
    await node.step();
    await lab.confirmAll(node);
    await expectOneLost(ids, estimate.kind === 'reverted' ? 'poison' : 'gas required exceeds allowance');
    expect(await lab.fills()).toEqual([]);
  });
});

describe('estimates without an answer', () => {
  /** A second at a time, with a lane step each, and a block now and then. */
  async function pass(seconds: number): Promise<void> {
    const { dataSource } = lab.node.get(Database);
    for (let i = 0; i < seconds; i += 1) {
      await dataSource.query(
        `UPDATE managed_tx SET next_resubmit_at = next_resubmit_at - interval '1 second' WHERE state = 'PENDING'`,
      );
      lab.node.laneClock.advance(1_000);
      await lab.node.step(lab.node.signer(0), lab.node.signer(1));
      if (i % 12 === 0) await lab.mine();
    }
  }

  it('for one payload hold up no other, of its signer or of another', async () => {
    const good = [1, 2, 3, 4, 5];
    const ids: string[] = [];
    for (const tag of good) ids.push(await lab.create(tag));
    const poison = await lab.create(666);
    ids.push(await lab.create(7, { signer: lab.node.signer(1) }));
    lab.chain.estimateGas = async (calls) =>
      calls.map(() =>
        calls.some(({ data }) => data === tagged(666))
          ? { kind: 'unavailable', message: 'timeout' }
          : { kind: 'ok', gas: 21_000n },
      );
    await pass(20);
    expect((await lab.states(ids)).filter((state) => state === 'PENDING')).toEqual([]);
    expect(await lab.states([poison])).toEqual(['PENDING']);
  });

  it('for a payload alone, while others are answered, end it for good', async () => {
    const node = await lab.startNode({}, ({ execution }) => Object.assign(execution, { giveUpAfter: 10_000 }));
    await lab.node.releaseLeases();
    lab.chain.faults.estimate = onlyFor(666, { kind: 'silent', message: 'no answer to this call' });
    const poison = await lab.create(666);
    for (let i = 0; i < 8; i += 1) {
      await makeWaitingDue(node);
      await node.step();
    }
    expect(await node.tx(poison)).toMatchObject({
      state: 'FAILED',
      failureReason: expect.stringContaining('no answer to this call'),
    });
  });

  it('for a batch that is too heavy hold up nothing for ever', async () => {
    const ids: string[] = [];
    for (let tag = 1; tag <= 60; tag += 1) ids.push(await lab.create(tag));
    lab.chain.estimateGas = async (calls) =>
      calls.map(() => (calls.length > 40 ? { kind: 'unavailable', message: 'timeout' } : { kind: 'ok', gas: 21_000n }));
    await pass(20);
    expect((await lab.states(ids)).filter((state) => state === 'PENDING')).toEqual([]);
  });
});

describe('a poison payload at position 50 of 100, which is refused only when it is sent', () => {
  it.each([
    ['reverts', 'execution_reverted', 'execution reverted: poison'],
    ['has too much gas', 'gas_limit_exceeds_block', 'exceeds block gas limit'],
    ['is oversized', 'oversized_data', 'oversized data: transaction size 131073, limit 131072'],
  ] as const)(
    'because it %s, costs one no-op: 99 CONFIRMED, 1 FAILED with its words',
    async (_what, errorClass, words) => {
      const node = await wideNode();
      lab.chain.faults.broadcast = onlyFor(POISON, refused(errorClass, words));
      const ids = await createAll();
      await node.step();
      // All others, and the no-op for its nonce, are on their way after this one step.
      expect(lab.chain.pooled()).toHaveLength(PAYLOADS);
      await lab.confirmAll(node);
      await expectOneLost(ids, words);
      expect(await node.tx(ids[POISON - 1] ?? '')).toMatchObject({ nonce: POISON - 1 });
      expect(await lab.fills()).toEqual([]);
    },
  );

  it('by one endpoint alone, is refused again at a later block first, and nothing behind it waits longer than for the no-op', async () => {
    const node = await wideNode();
    const outcome: BroadcastOutcome = {
      kind: 'rejected',
      errorClass: 'oversized_data',
      message: 'oversized data',
      alone: true,
    };
    lab.chain.faults.broadcast = onlyFor(POISON, { deliver: false, outcome });
    const ids = await createAll();
    await node.step();
    await lab.mine(node);
    expect(lab.chain.minedTxs()).toHaveLength(POISON - 1);
    await makeDue(node);
    await node.resubmit();
    // The no-op is due at once.
    await node.resubmit();
    await lab.confirmAll(node);
    await expectOneLost(ids, 'oversized data');
  });
});

describe('two gaps', () => {
  const GAPS = [2, 4];
  const isGap = ({ data }: { readonly data: string }): boolean => GAPS.some((tag) => tagged(tag) === data);

  beforeEach(async () => {
    lab.chain.faults.broadcast = (tx) => (isGap(tx) ? NOT_SENT : undefined);
    const ids: string[] = [];
    for (const tag of [1, 2, 3, 4, 5]) ids.push(await lab.create(tag));
    await lab.node.step();
    // What never left the node gives its nonce back, and the gaps stay for the next step.
    for (const tag of GAPS) await lab.cancelUnsent(ids[tag - 1] ?? '');
    expect(lab.chain.pooled().map(({ nonce }) => nonce)).toEqual([0n, 2n, 4n]);
  });

  it('are filled lowest first by the payloads that wait', async () => {
    const waiting = [await lab.create(6), await lab.create(7), await lab.create(8)];
    await lab.node.step();
    const nonces = await Promise.all(waiting.map(async (txId) => (await lab.node.tx(txId)).nonce));
    expect(nonces).toEqual([1, 3, 5]);
    expect(await lab.fills()).toEqual([]);
  });

  it('of which one payload takes the lower leave the higher to a fill, in the same step', async () => {
    const waiting = await lab.create(6);
    await lab.node.step();
    expect(await lab.node.tx(waiting)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1 });
    expect(await lab.fills()).toMatchObject([{ state: 'IN_MEMPOOL', nonce: 3 }]);
  });

  it('are both filled when nothing waits, and everything is mined in one block', async () => {
    await lab.node.step();
    expect((await lab.fills()).map(({ nonce }) => nonce).sort()).toEqual([1, 3]);
    await lab.mine();
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n, 3n, 4n]);
  });
});

/** Has all payloads in flight at once. */
async function wideNode(): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode({ execution: { inFlightStart: PAYLOADS } });
}
