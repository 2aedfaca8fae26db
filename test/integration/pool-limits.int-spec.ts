import { beforeEach, describe, expect, it } from '@jest/globals';
import { IN_FLIGHT_START } from '../../src/config/index.js';
import type { NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { InFlightLimits } from '../../src/modules/ledger/index.js';
import type { ModelTx } from '../support/model-chain.js';
import { makeDue, makeLowestDue, nodeLab } from '../support/node-lab.js';
import { onlyFor, refused, type SendFault, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();
const PAYLOADS = 12;
const TAKES = 4;
const START = IN_FLIGHT_START;
const tags = Array.from({ length: PAYLOADS }, (_, index) => index + 1);

/** A pool that takes so many transactions of an account. */
function takesOnly(count: number, errorClass: NodeErrorClass = 'account_limit') {
  return ({ from, hash }: ModelTx): SendFault | undefined => {
    const pooled = lab.chain.pooled().filter((tx) => tx.from === from);
    const isKnown = pooled.some((tx) => tx.hash === hash);
    return !isKnown && pooled.length >= count ? refused(errorClass, errorClass) : undefined;
  };
}

async function createAll(): Promise<string[]> {
  const ids: string[] = [];
  for (const tag of tags) ids.push(await lab.create(tag));
  return ids;
}

/** A block, and what the node does without any timer: it sees the block, and its lane steps. */
async function block(node: TestNode = lab.node): Promise<void> {
  await lab.mine(node);
  await node.step();
}

/** Every payload was mined once, in the order of the queue, and nothing else was. */
function expectInOrder(): void {
  expect(lab.chain.minedTxs().map(({ data }) => data)).toEqual(tags.map(tagged));
}

describe('a pool that takes only a few txs of a signer', () => {
  it.each(['account_limit', 'delegated_account_limit', 'txpool_full', 'nonce_too_high'] as const)(
    'and answers %s gets all of them one block after the other, in order, with no nonce given up and no timer run out',
    async (errorClass) => {
      lab.chain.faults.broadcast = takesOnly(TAKES, errorClass);
      const ids = await createAll();
      await lab.node.step();
      for (let round = 0; round < PAYLOADS / TAKES; round += 1) await block();
      await lab.confirmAll();
      expect(new Set(await lab.states(ids))).toEqual(new Set(['CONFIRMED']));
      expectInOrder();
      expect(await lab.fills()).toEqual([]);
    },
  );

  it('learns how many, and gives nonces to no more until some are mined', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    const limits = lab.node.get(InFlightLimits);
    await createAll();
    await lab.node.step();
    expect(limits.of(lab.node.signer())).toBe(TAKES);
    const waiting = await lab.create(PAYLOADS + 1);
    await lab.node.step();
    expect(await lab.node.tx(waiting)).toMatchObject({ state: 'PENDING' });
    await lab.mine();
    expect(limits.of(lab.node.signer())).toBe(TAKES + 1);
  });

  it('has the others wait with their nonces and a sub state, however often it refuses them', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    const ids = await createAll();
    await lab.node.step();
    for (let round = 0; round < 30; round += 1) await lab.resubmit();
    expect(await lab.node.tx(ids[TAKES] ?? '')).toMatchObject({
      state: 'ALLOCATED',
      subState: 'POOL_LIMIT',
      lastError: 'account_limit',
      nonce: TAKES,
    });
    expect(await lab.states(ids)).not.toContain('PENDING');
  });

  it('is offered no more than it has room for, and one to learn whether it takes more', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    await createAll();
    await lab.node.step();
    const before = lab.chain.sent.length;
    await block();
    expect(lab.chain.sent.length - before).toBe(TAKES + 1);
  });

  it('gets more again when it takes more', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    await createAll();
    await lab.node.step();
    delete lab.chain.faults.broadcast;
    await block();
    await block();
    expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBe(TAKES + 2);
    await lab.confirmAll();
    expectInOrder();
  });

  it('is learnt again by the next owner, who loses nothing', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    const ids = await createAll();
    await lab.node.step();
    const next = await lab.takeOver();
    await next.step();
    expect(next.get(InFlightLimits).of(next.signer())).toBe(TAKES);
    for (let round = 0; round < PAYLOADS / TAKES; round += 1) await block(next);
    await lab.confirmAll(next);
    expect(new Set(await lab.states(ids, next))).toEqual(new Set(['CONFIRMED']));
    expectInOrder();
  });

  it('ends nothing that may be out from a send before a crash', async () => {
    lab.chain.faults.broadcast = takesOnly(TAKES);
    const ids = await createAll();
    const attempts = lab.node.get(AttemptRepository);
    const record = attempts.recordOutcomes;
    attempts.recordOutcomes = () => Promise.reject(new Error('crashed'));
    await lab.node.step().catch(() => undefined);
    attempts.recordOutcomes = record;
    await lab.node.releaseLeases();
    const next = await lab.startNode({}, ({ resubmit }) =>
      Object.assign(resubmit, { maxRefusals: 2, maxRefusalsInDoubt: 3 }),
    );
    await next.step();
    for (let round = 0; round < 5; round += 1) await lab.resubmit(next);
    expect(await next.tx(ids[TAKES] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'POOL_LIMIT' });
    for (let round = 0; round < PAYLOADS / TAKES; round += 1) await block(next);
    await lab.confirmAll(next);
    expectInOrder();
  });
});

describe('a chain that takes only the next nonce of an account', () => {
  it('gets one payload with each block, in order, with no nonce given up', async () => {
    lab.chain.faults.broadcast = takesOnly(1, 'nonce_too_high');
    const ids = await createAll();
    await lab.node.step();
    expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBe(1);
    const before = lab.chain.sent.length;
    for (let round = 0; round < PAYLOADS; round += 1) await block();
    expect(lab.chain.sent.length - before).toBeLessThanOrEqual(2 * PAYLOADS);
    await lab.confirmAll();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['CONFIRMED']));
    expectInOrder();
    expect(await lab.fills()).toEqual([]);
  });

  it('teaches nothing when it refuses the next one: it has not seen the last block', async () => {
    lab.chain.faults.broadcast = onlyFor(1, refused('nonce_too_high', 'nonce too high'));
    const [first = ''] = await createAll();
    await lab.node.step();
    expect(await lab.node.tx(first)).toMatchObject({ state: 'ALLOCATED', subState: 'NODE_REFUSED' });
    expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBe(START);
    delete lab.chain.faults.broadcast;
    await lab.resubmit();
    await lab.confirmAll();
    expectInOrder();
  });
});

describe('a pool that drops what it took without a word', () => {
  it('gets half as many at once, and everything again', async () => {
    const ids = await createAll();
    await lab.node.step();
    lab.chain.dropPool();
    await lab.resubmit();
    expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBe(START / 2);
    await lab.confirmAll();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['CONFIRMED']));
    expectInOrder();
  });
});

describe('a pool that dropped what it took, at a price that suffices', () => {
  beforeEach(() => {
    const quote = lab.chain.feeQuote.bind(lab.chain);
    lab.chain.feeQuote = async () => ({ ...(await quote()), congestedTip: 1n });
  });

  /** Blocks without any of ours, and no timer runs out. */
  async function emptyBlocks(count: number): Promise<void> {
    lab.chain.mineEmpty(count);
    await lab.node.follow();
    await lab.node.bump();
  }

  it('gets everything again, in order, when so many blocks took nothing between two looks', async () => {
    const ids = await createAll();
    await lab.node.step();
    const [lowest] = lab.chain.pooled();
    lab.chain.dropPool();
    await emptyBlocks(5);
    expect(lab.chain.pooled()).toEqual([]);
    await emptyBlocks(5);
    expect(lab.chain.pooled()).toEqual([lowest]);
    await lab.node.step();
    expect(lab.chain.pooled()).toHaveLength(PAYLOADS);
    await lab.confirmAll();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['CONFIRMED']));
    expectInOrder();
  });

  it('is asked with one send for a signer, which is all where it has everything', async () => {
    await createAll();
    await lab.node.step();
    const before = lab.chain.sent.length;
    for (let look = 0; look < 2; look += 1) await emptyBlocks(5);
    await lab.node.step();
    expect(lab.chain.sent.length - before).toBe(1);
  });
});

describe('a pool that is full', () => {
  const FULL = refused('txpool_full', 'txpool is full');

  it('has everything wait with its nonce, for as long as it takes nothing, and then gets it in order', async () => {
    lab.chain.faults.broadcast = () => FULL;
    const ids = await createAll();
    await lab.node.step();
    for (let round = 0; round < 15; round += 1) await lab.resubmit();
    expect(new Set(await lab.states(ids))).toEqual(new Set(['ALLOCATED']));
    expect(lab.node.get(InFlightLimits).of(lab.node.signer())).toBe(START);
    delete lab.chain.faults.broadcast;
    // Only the lowest nonce is due, at the end of its back-off.
    await makeLowestDue(lab.node);
    await lab.node.resubmit();
    await lab.node.step();
    expect(lab.chain.pooled()).toHaveLength(PAYLOADS);
    await lab.confirmAll();
    expectInOrder();
  });

  it('for one payload, while it takes others, has this one give up its nonce after so many refusals', async () => {
    lab.chain.faults.broadcast = onlyFor(1, FULL);
    const ids = await createAll();
    for (let round = 0; round < 14; round += 1) {
      await makeDue(lab.node);
      await lab.node.step();
      await lab.node.resubmit();
      await lab.mine();
    }
    await lab.confirmAll();
    const [first, ...others] = await lab.states(ids);
    expect([first, ...new Set(others)]).toEqual(['PENDING', 'CONFIRMED']);
  });

  it('for the lowest nonce alone, on a chain where nothing else is sent any more, does not stop the signer', async () => {
    lab.chain.faults.broadcast = onlyFor(1, FULL);
    const ids = await createAll();
    await lab.node.step();
    // A node that saw nothing taken.
    const next = await lab.takeOver();
    for (let round = 0; round < 14; round += 1) {
      await lab.resubmit(next);
      await next.step();
      await lab.mine(next);
    }
    await lab.confirmAll(next);
    expect(new Set((await lab.states(ids, next)).slice(1))).toEqual(new Set(['CONFIRMED']));
  });
});
