import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { ExplainTx, type ExplainedTx } from '../../src/modules/ops/application/explain-tx.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { onlyFor, refused } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();
const race = new RaceLab(lab);

async function explained(txId: string, node: TestNode = lab.node): Promise<ExplainedTx> {
  const answer = await node.get(ExplainTx).execute(txId, ANYONE);
  if (!answer) throw new Error(`no transaction ${txId}`);
  return answer;
}

/** Owns the signers, and sends one transaction of each at a time. */
async function narrowNode(): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode({ execution: { maxInFlight: 1 } });
}

describe('why a transaction waits', () => {
  it('in the queue: how many are ahead, by priority and age, and what blocks them', async () => {
    const narrow = await narrowNode();
    const [flying, older, own, urgent] = [
      await lab.create(1),
      await lab.create(2),
      await lab.create(3),
      await lab.create(4, { priority: 5 }),
    ];
    await narrow.step();
    const [first] = await lab.states([flying], narrow);
    // The urgent one went first.
    expect(first).toBe('PENDING');
    const { facts, explanation } = await explained(own, narrow);
    expect(facts.queue).toEqual({ position: 4, ahead: 3 });
    expect(facts.blockedBy).toMatchObject({ txId: urgent, nonce: 0, state: 'IN_MEMPOOL' });
    expect(facts.signer).toMatchObject({
      inFlight: 1,
      paused: null,
      inFlightLimit: { configured: 1, learnt: 1, delegated: false },
    });
    expect(facts.signer.leaseOwner).not.toBeNull();
    expect(explanation.summary).toContain('1 of at most 1 transactions of its signer are in flight already');
    expect((await explained(older, narrow)).facts.queue).toEqual({ position: 3, ahead: 2 });
  });

  it('behind the nonce of an outside sender: which one, and who has it; and what it blocks', async () => {
    const [hold, behind] = [
      await lab.create(1, { hold: { ttl: 600, count: 1, index: 0 }, payload: NO_PAYLOAD }),
      await lab.create(2),
    ];
    await lab.node.step();
    const waiting = await explained(behind);
    expect(waiting.facts.blockedBy).toEqual({ txId: hold, nonce: 0, state: 'ALLOCATED', heldBy: 'default' });
    expect(waiting.explanation.summary).toContain('nonce 0, which an outside sender of the account default has');
    const { explanation } = await explained(hold);
    expect(explanation.summary).toMatch(/^The hold keeps nonce 0 .* 1 transaction waits behind it\.$/);
    expect(explanation.next.what).toContain('two looks at the chain');
  });

  it('behind a lower nonce that a node refuses: which one, and what the node says of it', async () => {
    lab.chain.faults.broadcast = onlyFor(1, refused('txpool_full', 'txpool is full'));
    const [lowest, behind] = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    expect((await explained(behind)).facts).toMatchObject({
      queue: { position: 2, ahead: 1 },
      blockedBy: { txId: lowest, nonce: 0, state: 'ALLOCATED' },
      attempts: 1,
      price: { aboveMarket: false },
    });
    const { facts, explanation } = await explained(lowest);
    expect(facts.blockedBy).toBeNull();
    expect(explanation.summary).toContain('the pools have no room for it ("txpool is full")');
    expect(explanation.next.at).not.toBeNull();
  });

  it('for its owner, which has to carry a command out, and then for what is mined', async () => {
    const txId = await lab.sent(1);
    await lab.sent(2);
    const { replacement } = await race.replace(txId, 3);
    const { facts, explanation } = await explained(txId);
    expect(facts.command).toMatchObject({ kind: 'replace', tries: 0 });
    expect(explanation.summary).toContain('Its client asked');
    expect((await explained(String(replacement))).explanation.summary).toContain('waits for its race');
    lab.chain.faults.estimate = onlyFor(3, { kind: 'insufficient_funds', message: 'no money' } as const);
    await lab.node.commands();
    const tried = await explained(txId);
    expect(tried.facts.command).toMatchObject({ tries: 1 });
    expect(tried.explanation.summary).toContain('that could not be done yet (one try)');
    delete lab.chain.faults.estimate;
    await lab.node.commands();
    const after = await explained(txId);
    expect(after.facts).toMatchObject({ command: null, replacedBy: replacement, signer: { inFlight: 2 } });
    await race.cancel(String(replacement));
    await lab.node.commands();
    await lab.resubmit();
    const closing = await explained(String(replacement));
    expect(closing.facts.noOpSignedAt).not.toBeNull();
    expect(closing.explanation.summary).toContain('competes with a no-op for nonce 0 since');
  });

  it('for blocks: how many more', async () => {
    const txId = await lab.mined(1);
    const { facts, explanation } = await explained(txId);
    expect(facts).toMatchObject({ queue: null, blockedBy: null, price: null, balance: null });
    expect(facts.mined).toMatchObject({ required: 2, missing: 2 });
    expect(explanation.summary).toContain('waits for 2 blocks more of 2');
  });

  it('for nothing, when it is final', async () => {
    const txId = await lab.sent(1);
    await lab.confirmAll();
    expect((await explained(txId)).explanation.next.at).toBeNull();
  });

  it('is said by every node, also by one that acts for nobody', async () => {
    const txId = await lab.sent(1);
    const other = await lab.startNode();
    const { facts } = await explained(txId, other);
    const ofOwner = (await explained(txId)).facts;
    // What it learnt about the signer only the owner knows.
    const inFlightLimit = { ...ofOwner.signer.inFlightLimit, learnt: null };
    expect(facts).toEqual({ ...ofOwner, signer: { ...ofOwner.signer, inFlightLimit } });
  });

  it('is said while the chain does not answer, without what only the chain knows', async () => {
    const txId = await lab.sent(1);
    const away = () => Promise.reject(new Error('no endpoint answers'));
    Object.assign(lab.chain, { feeQuote: away, balances: away });
    const { facts, explanation } = await explained(txId);
    expect(facts).toMatchObject({ price: null, balance: null, queue: { position: 1, ahead: 0 } });
    expect(explanation.summary).toBe('The transaction was sent and is not mined: it is the next of its signer.');
  });
});

describe('what an explanation counts', () => {
  it('is money that is committed in flight, and what the queue before it asks for', async () => {
    const narrow = await narrowNode();
    await lab.create(1);
    await narrow.step();
    await lab.create(2);
    const { facts } = await explained(await lab.create(3), narrow);
    const { balance } = facts;
    expect(balance?.committed).toBeGreaterThan(0n);
    // One wei, and the gas of a transfer at the price of the market.
    expect(balance?.queuedAhead).toBe(1n + 21_000n * (facts.price?.market.maxFeePerGas ?? 0n));
    expect(balance?.missing).toBe(0n);
  });

  it('is the blobs of the queue, too', async () => {
    const ahead = await lab.create(1);
    const txId = await lab.create(2);
    const before = (await explained(txId)).facts.balance?.queuedAhead ?? 0n;
    await lab.node.get(Database).query(GIVE_BLOBS, [ahead]);
    // Where the chain has no blobs, a wei is the least that they cost.
    expect((await explained(txId)).facts.balance?.queuedAhead).toBe(before + 3n * 131_072n * 2n);
  });

  it('is a queue of those that wait for a timer, too, by their order, and no more than it is told', async () => {
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await lab.node.get(Database).query(POSTPONE, [ids[0] ?? '']);
    expect((await explained(ids[2] ?? '')).facts.queue).toEqual({ position: 3, ahead: 2 });
    expect((await explained(ids[0] ?? '')).facts.queue).toEqual({ position: 1, ahead: 0 });
    await lab.create(4, { priority: 5 });
    expect((await explained(ids[2] ?? '')).facts.queue).toEqual({ position: 4, ahead: 3 });
  });

  it('is the time since the last change of state or sub state, and not since the last try', async () => {
    lab.chain.faults.broadcast = () => refused('txpool_full', 'txpool is full');
    const txId = await lab.sent(1);
    const { since } = (await explained(txId)).facts;
    await lab.resubmit();
    expect((await explained(txId)).facts.since).toBe(since);
    delete lab.chain.faults.broadcast;
    await lab.resubmit();
    const sentAt = (await explained(txId)).facts.since;
    expect(sentAt > since).toBe(true);
    await lab.resubmit();
    expect((await explained(txId)).facts.since).toBe(sentAt);
  });
});

const POSTPONE = {
  name: 'test_postpone',
  text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() + interval '1 hour' WHERE tx_id = $1`,
};

const GIVE_BLOBS = {
  name: 'test_give_blobs',
  text: `UPDATE managed_tx SET options = options || '{"blobHashes": ["0x01", "0x02", "0x03"]}' WHERE tx_id = $1`,
};
