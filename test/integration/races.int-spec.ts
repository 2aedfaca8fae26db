import { describe, expect, it } from '@jest/globals';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, refused, tagged } from '../support/send-faults.js';
import type { ModelTx } from '../support/model-chain.js';

const lab = nodeLab();
const race = new RaceLab(lab);
const GWEI = 1_000_000_000n;

/** From now on no node gets these transactions, although they answer that they took them. */
function lose(isLost: (tx: ModelTx) => boolean): void {
  lab.chain.faults.broadcast = (tx) => (isLost(tx) ? { outcome: { kind: 'accepted' }, deliver: false } : undefined);
}

const isNoOp = ({ data }: ModelTx): boolean => data === '0x';
const withTag =
  (tag: number) =>
  ({ data }: ModelTx): boolean =>
    data === tagged(tag);
const noOps = (): ModelTx[] => lab.chain.minedTxs().filter(isNoOp);

/** The pool drops what it has for the nonce, and has the payload with this tag. */
function minersTake(tag: number): void {
  const tx = lab.chain.sent.find(withTag(tag));
  if (tx) lab.chain.force(tx);
}

/** A sent tx, and a replacement that every node refused for good. */
async function withdrawnReplacement(): Promise<[string, string]> {
  const original = await lab.sent(1);
  lab.chain.faults.broadcast = onlyFor(2, OVERSIZED);
  const replacement = await race.replacement(original, 2);
  await lab.node.commands();
  expect(await lab.node.tx(replacement)).toMatchObject({
    state: 'IN_MEMPOOL',
    subState: 'REPLACING',
    failureReason: 'oversized data',
    nonce: 0,
  });
  expect(await lab.node.tx(original)).toMatchObject({ state: 'IN_MEMPOOL', replacedBy: null, subState: null });
  return [original, replacement];
}

it('a replacement of what never left, and that every node refuses, has its slot closed: nobody else holds it', async () => {
  lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
  const original = await lab.create(1);
  await lab.node.step();
  lab.chain.faults.broadcast = onlyFor(2, OVERSIZED);
  const replacement = await race.replacement(original, 2);
  await lab.node.commands();
  await lab.node.step();
  expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'IN_MEMPOOL']);
  expect(await lab.node.tx(replacement)).toMatchObject({ subState: 'REFUSED', nonce: 0 });
  await lab.confirmAll();
  expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'FAILED']);
  expect(lab.minedWith(2)).toEqual([]);
});

describe('a tx without a nonce', () => {
  it('is cancelled at once, and never gets a nonce', async () => {
    const txId = await lab.create(1);
    const command = await race.cancel(txId);
    expect(command).toMatchObject({ status: 'DONE' });
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CANCELLED', nonce: null });
    expect(lab.minedWith(1)).toEqual([]);
  });

  it('gets another payload in place, and only that is executed', async () => {
    const txId = await lab.create(1);
    expect(await race.replace(txId, 2)).toMatchObject({ status: 'DONE', replacement: txId });
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });

  it('that was read by a lane is not sent with the payload that was replaced meanwhile', async () => {
    const txId = await lab.create(1);
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    let isReplaced = false;
    lab.chain.estimateGas = async (calls) => {
      if (!isReplaced) await race.replace(txId, 2);
      isReplaced = true;
      return estimate(calls);
    };
    await lab.node.step();
    expect(lab.chain.sent).toEqual([]);
    await lab.node.step();
    await lab.confirmAll();
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });
});

describe('a cancel of a sent tx', () => {
  it('ends CANCELLED when the no-op is mined, and the payload never runs', async () => {
    const [first, second] = [await lab.sent(1), await lab.sent(2)];
    await race.cancel(first);
    await lab.node.commands();
    expect(await lab.node.tx(first)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING' });
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([first, second])).toEqual(['CANCELLED', 'CONFIRMED']);
    expect([lab.minedWith(1).length, noOps().length]).toEqual([0, 1]);
  });

  it('ends CONFIRMED when the payload is mined', async () => {
    const txId = await lab.sent(1);
    lose(isNoOp);
    await race.cancel(txId);
    await lab.node.commands();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(noOps()).toEqual([]);
  });

  it('of the middle of the queue lets the others go on', async () => {
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await lab.node.step();
    await race.cancel(ids[1] ?? '');
    await lab.node.commands();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
  });

  it('of what never left the node gives the slot back at once, and the next payload takes it', async () => {
    lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
    const txId = await lab.sent(1);
    await race.cancel(txId);
    await lab.node.commands();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    const next = await lab.sent(2);
    await lab.confirmAll();
    expect(await lab.node.tx(next)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
  });

  it('of what every node refused in words waits for a no-op to be final: a node may have kept it', async () => {
    lab.chain.faults.broadcast = onlyFor(1, refused('underpriced', 'low'));
    const txId = await lab.sent(1);
    await race.cancel(txId);
    await lab.node.commands();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING', nonce: 0 });
    const next = await lab.sent(2);
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    expect(await lab.node.tx(next)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect([lab.minedWith(1).length, noOps().length]).toEqual([0, 1]);
  });

  it('is one command when it is repeated with its key, and changes nothing when it is repeated without', async () => {
    const txId = await lab.sent(1);
    const first = await race.cancel(txId, 'once');
    expect(await race.cancel(txId, 'once')).toEqual(first);
    await lab.node.commands();
    await lab.resubmit();
    expect(await race.cancel(txId)).toMatchObject({ status: 'DONE' });
    await lab.confirmAll();
    expect(await race.cancel(txId, 'once')).toMatchObject({ commandId: first.commandId, status: 'DONE' });
    await expect(race.cancel(txId, 'again')).rejects.toMatchObject({
      code: 'already_final',
      facts: { state: 'CANCELLED' },
    });
    expect(noOps()).toHaveLength(1);
  });

  it('is refused for a tx that is mined', async () => {
    const txId = await lab.mined(1);
    await expect(race.cancel(txId)).rejects.toMatchObject({ code: 'already_mined' });
  });

  it('that comes too late says so, and changes nothing', async () => {
    const txId = await lab.sent(1);
    await race.cancel(txId);
    await lab.mine();
    await lab.node.commands();
    expect(await race.commandsOf(txId)).toMatchObject([
      { status: 'REFUSED', refusal: 'the transaction is in a block' },
    ]);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });

  it('keeps its end when nodes refuse the no-op again and again', async () => {
    const txId = await lab.sent(1);
    await race.cancel(txId);
    await lab.node.commands();
    lab.chain.faults.broadcast = (tx) => (isNoOp(tx) ? refused('underpriced', 'low') : undefined);
    for (let i = 0; i < 12; i += 1) await lab.resubmit();
    delete lab.chain.faults.broadcast;
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
  });

  it('is carried out by the next owner when the node that took it is gone', async () => {
    const txId = await lab.sent(1);
    await race.cancel(txId);
    const next = await lab.takeOver();
    await next.step();
    await next.commands();
    await lab.resubmit(next);
    await lab.confirmAll(next);
    expect(await lab.states([txId], next)).toEqual(['CANCELLED']);
  });
});

describe('a replace of a sent tx', () => {
  it('ends REPLACED when the replacement is mined', async () => {
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    expect(await lab.node.tx(original)).toMatchObject({
      state: 'IN_MEMPOOL',
      subState: 'REPLACING',
      replacedBy: replacement,
    });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0, replaces: original });
    await lab.mine();
    expect(await lab.states([original, replacement])).toEqual(['IN_MEMPOOL', 'MINED']);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'REPLACED', replacedBy: replacement });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'CONFIRMED', replaces: original });
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });

  it('ends with the replacement DROPPED when the original is mined', async () => {
    const original = await lab.sent(1);
    lose(withTag(2));
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    await lab.confirmAll();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'CONFIRMED', replacedBy: null });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'DROPPED', replaces: original });
    for (let i = 0; i < 3; i += 1) {
      await lab.resubmit();
      await lab.node.step();
      await lab.confirmAll();
    }
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([1, 0]);
  });

  it.each(['original', 'replacement'])('may be won by the other one after a reorg took the %s back', async (first) => {
    const original = await lab.sent(1);
    if (first === 'original') lose(withTag(2));
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    await lab.mine();
    const [before, after] = first === 'original' ? [1, 2] : [2, 1];
    expect(lab.minedWith(before)).toHaveLength(1);
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    delete lab.chain.faults.broadcast;
    if (after === 1) minersTake(1);
    else await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([original, replacement])).toEqual(
      after === 1 ? ['CONFIRMED', 'DROPPED'] : ['REPLACED', 'CONFIRMED'],
    );
  });

  it.each(['original', 'replacement'])(
    'may be won by the other one after a reorg deeper than finality took the %s back',
    async (first) => {
      const original = await lab.sent(1);
      if (first === 'original') lose(withTag(2));
      const replacement = await race.replacement(original, 2);
      await lab.node.commands();
      await lab.confirmAll();
      lab.chain.reorg(3, { drop: true });
      await lab.node.follow();
      await lab.node.follow();
      expect(await lab.states([original, replacement])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
      delete lab.chain.faults.broadcast;
      if (first === 'replacement') minersTake(1);
      else await lab.resubmit();
      await lab.confirmAll();
      expect(await lab.states([original, replacement])).toEqual(
        first === 'replacement' ? ['CONFIRMED', 'DROPPED'] : ['REPLACED', 'CONFIRMED'],
      );
    },
  );

  it('of a replacement ends each tx by its place', async () => {
    const first = await lab.sent(1);
    const second = await race.replacement(first, 2);
    await lab.node.commands();
    await expect(race.replace(first, 9)).rejects.toMatchObject({ code: 'being_replaced' });
    const third = await race.replacement(second, 3);
    await lab.node.commands();
    const all = [first, second, third];
    expect(await lab.states(all)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    minersTake(2);
    await lab.confirmAll();
    expect(await lab.states(all)).toEqual(['REPLACED', 'CONFIRMED', 'DROPPED']);
  });

  it('can be cancelled: the no-op ends the replacement CANCELLED and the original REPLACED', async () => {
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    await race.cancel(replacement);
    await lab.node.commands();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'CANCELLED']);
    expect([lab.minedWith(1).length, lab.minedWith(2).length, noOps().length]).toEqual([0, 0, 1]);
  });

  it('that every node refuses for good rests, the original goes on, and it fails when the original is final', async () => {
    const [original, replacement] = await withdrawnReplacement();
    await lab.resubmit();
    await lab.mine();
    expect(await lab.states([original, replacement])).toEqual(['MINED', 'IN_MEMPOOL']);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'CONFIRMED', replacedBy: null });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data' });
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([1, 0]);
  });

  it('that every node refused for good, and that is mined all the same, goes on as mined, and the original ends REPLACED', async () => {
    const [original, replacement] = await withdrawnReplacement();
    await lab.resubmit();
    minersTake(2);
    await lab.mine();
    expect(await lab.states([original, replacement])).toEqual(['IN_MEMPOOL', 'MINED']);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'REPLACED', replacedBy: replacement });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });

  it.each([
    ['original', 'REPLACED', 'CONFIRMED'],
    ['replacement', 'CONFIRMED', 'FAILED'],
  ] as const)(
    'that every node refused for good may end the other way after a reorg took the %s back',
    async (first, ...ends) => {
      const ids = await withdrawnReplacement();
      await lab.resubmit();
      if (first === 'replacement') minersTake(2);
      await lab.mine();
      lab.chain.reorg(1, { drop: true });
      await lab.node.follow();
      expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
      // Only the original is sent again.
      const before = lab.chain.sent.length;
      await lab.resubmit();
      expect(lab.chain.sent.slice(before).map(({ data }) => data)).toEqual([tagged(1)]);
      if (first === 'original') minersTake(2);
      await lab.confirmAll();
      expect(await lab.states(ids)).toEqual(ends);
      expect([lab.minedWith(1).length, lab.minedWith(2).length].sort()).toEqual([0, 1]);
    },
  );

  it.each([
    ['original', 'REPLACED', 'CONFIRMED'],
    // A final block had it, so it competes like every other.
    ['replacement', 'CONFIRMED', 'DROPPED'],
  ] as const)(
    'that every node refused for good may end the other way after a reorg deeper than finality took the %s back',
    async (first, ...ends) => {
      const ids = await withdrawnReplacement();
      await lab.resubmit();
      if (first === 'replacement') minersTake(2);
      await lab.confirmAll();
      lab.chain.reorg(3, { drop: true });
      await lab.node.follow();
      await lab.node.follow();
      expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
      minersTake(first === 'replacement' ? 1 : 2);
      await lab.confirmAll();
      expect(await lab.states(ids)).toEqual(ends);
      expect([lab.minedWith(1).length, lab.minedWith(2).length].sort()).toEqual([0, 1]);
    },
  );

  it('that every node refused for good rests again after a reorg deeper than finality, and its original is executed', async () => {
    const ids = await withdrawnReplacement();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED']);
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    await lab.node.follow();
    const before = lab.chain.sent.length;
    await lab.resubmit();
    expect(lab.chain.sent.slice(before).map(({ data }) => data)).toEqual([tagged(1)]);
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED']);
    expect([lab.minedWith(1).length, lab.minedWith(2).length, noOps().length]).toEqual([1, 0, 0]);
  });

  it('that every node refused for good takes no command, and its original takes a cancel but no other replace', async () => {
    const [original, replacement] = await withdrawnReplacement();
    const refusal = { code: 'refused_by_nodes' };
    await expect(race.cancel(replacement)).rejects.toMatchObject(refusal);
    await expect(race.speedUp(replacement)).rejects.toMatchObject(refusal);
    await expect(race.replace(replacement, 3)).rejects.toMatchObject(refusal);
    await expect(race.replace(original, 3)).rejects.toMatchObject(refusal);
    await race.cancel(original);
    await lab.node.commands();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING' });
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([original, replacement])).toEqual(['CANCELLED', 'FAILED']);
    expect([lab.minedWith(1).length, lab.minedWith(2).length, noOps().length]).toEqual([0, 0, 1]);
  });

  it('that comes too late is DROPPED, and says why', async () => {
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.mine();
    await lab.node.commands();
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'DROPPED', nonce: null });
    expect(await race.commandsOf(original)).toMatchObject([{ status: 'REFUSED' }]);
  });

  it('is not changed by another command while its original is mined, until a reorg', async () => {
    const original = await lab.sent(1);
    lose(withTag(2));
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    await lab.mine();
    expect(await lab.states([original, replacement])).toEqual(['MINED', 'IN_MEMPOOL']);
    const refusal = { code: 'already_mined', facts: { state: 'IN_MEMPOOL' } };
    await expect(race.cancel(replacement)).rejects.toMatchObject(refusal);
    await expect(race.speedUp(replacement)).rejects.toMatchObject(refusal);
    await expect(race.replace(replacement, 3)).rejects.toMatchObject(refusal);
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    expect(await race.cancel(replacement)).toMatchObject({ status: 'QUEUED' });
  });

  it('that expired before its race began is DROPPED, and the original goes on', async () => {
    const original = await lab.sent(1);
    const { replacement } = await race.replace(original, 2, { expiresAt: new Date(Date.now() - 1) });
    await lab.node.commands();
    expect(await lab.node.tx(replacement ?? '')).toMatchObject({ state: 'DROPPED', nonce: null });
    expect(await race.commandsOf(original)).toMatchObject([{ status: 'REFUSED', refusal: 'the replacement expired' }]);
    await lab.confirmAll();
    expect(await lab.states([original])).toEqual(['CONFIRMED']);
    expect(lab.chain.sent.filter(withTag(2))).toEqual([]);
  });

  it('is not sent by a lane before the race begins', async () => {
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.step();
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'PENDING', subState: 'REPLACING' });
    await lab.node.commands();
    await lab.confirmAll();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'CONFIRMED']);
  });

  it('takes the place of an original that never left the node', async () => {
    lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'PENDING']);
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'CONFIRMED', nonce: 0, replaces: original });
    expect(lab.minedWith(1)).toEqual([]);
  });

  it('competes with an original that every node refused in words, and either may be mined', async () => {
    lab.chain.faults.broadcast = onlyFor(1, refused('underpriced', 'low'));
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    expect(await lab.states([original, replacement])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.mine();
    expect(await lab.states([original, replacement])).toEqual(['IN_MEMPOOL', 'MINED']);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'CONFIRMED']);
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });

  it('with the key of another request is refused, and stores nothing', async () => {
    const original = await lab.sent(1);
    await expect(race.replace(original, 2, { requestId: 'request-1' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await race.commandsOf(original)).toEqual([]);
    const { replacement } = await race.replace(original, 2);
    expect(await race.replace(original, 2)).toMatchObject({ replacement });
    await expect(race.replace(original, 3, { requestId: 'request-2' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('never moves a payload whose nonce a foreign transaction used, if it was replaced', async () => {
    const original = await lab.sent(1);
    const replacement = await race.replacement(original, 2);
    await lab.node.commands();
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    for (let i = 0; i < 3; i += 1) {
      await lab.mine();
      await lab.resubmit();
      await lab.node.checkReceipts();
    }
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(original)).toMatchObject({ state: 'REPLACED' });
    expect(await lab.node.tx(replacement)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect([lab.minedWith(1).length, lab.minedWith(2).length]).toEqual([0, 1]);
  });
});

describe('a speed-up', () => {
  it('bumps once, although the send fails, or the node dies, before it is known to be done', async () => {
    const txId = await lab.sent(1);
    await race.speedUp(txId, 'faster');
    const broadcast = lab.chain.broadcast.bind(lab.chain);
    lab.chain.broadcast = () => Promise.reject(new Error('died before the send'));
    await lab.node.commands().catch(() => undefined);
    lab.chain.broadcast = broadcast;
    const next = await lab.takeOver();
    await next.step();
    await next.commands();
    await lab.resubmit(next);
    expect(await race.commandsOf(txId)).toMatchObject([{ status: 'DONE' }]);
    expect(await next.get(TxQueries).attempts(txId)).toHaveLength(2);
    await lab.confirmAll(next);
    expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
  });
});

describe('a tx that expires', () => {
  it('after it was sent gets a no-op, and whichever is mined decides', async () => {
    const expiresAt = new Date(Date.now() + 1_500);
    const txId = await lab.create(1, { expiresAt });
    const other = await lab.create(2);
    await lab.node.step();
    await lab.node.commands();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: null });
    while (new Date() <= expiresAt) await new Promise((resolve) => setTimeout(resolve, 50));
    await lab.node.commands();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId, other])).toEqual(['CANCELLED', 'CONFIRMED']);
    expect(await lab.node.tx(txId)).toMatchObject({ failureReason: 'expired before it was mined' });
  });
});

it('a cancelled tx is closed by a no-op at the caps while the market is above them, and its payload is not sent again', async () => {
  const txId = await lab.sent(1);
  const quote = await lab.chain.feeQuote();
  const dearTip = 600n * GWEI;
  lab.chain.feeQuote = async () => ({ ...quote, tips: { ...quote.tips, fast: dearTip, urgent: dearTip } });
  await race.cancel(txId);
  await lab.node.commands();
  // A no-op of any price ends it now.
  lab.chain.dropPool();
  const before = lab.chain.sent.length;
  for (let i = 0; i < 3; i += 1) await lab.resubmit();
  expect(new Set(lab.chain.sent.slice(before).map(({ data }) => data))).toEqual(new Set(['0x']));
  await lab.confirmAll();
  expect(await lab.states([txId])).toEqual(['CANCELLED']);
  expect(lab.minedWith(1)).toEqual([]);
});
