import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { SignNoOps } from '../../src/modules/sending/index.js';
import { aRequest } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { onlyFor, OVERSIZED, refused, timedOut } from '../support/send-faults.js';

const lab = nodeLab();
/** The second of three of one signer. */
const MIDDLE = 2;

async function sendThree(): Promise<string[]> {
  const ids = [await lab.create(1), await lab.create(MIDDLE), await lab.create(3)];
  await lab.node.step();
  return ids;
}

describe('a tx that is refused for good', () => {
  it('gets a no-op for its nonce in the same step, and fails when the no-op is final', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    const txId = await lab.sent(1);
    const refusal = { subState: 'REFUSED', nonce: 0, failureReason: 'oversized data' };
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', ...refusal });
    expect(lab.chain.pooled()).toMatchObject([{ nonce: 0n, data: '0x' }]);
    const next = await lab.sent(2);
    expect(await lab.node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1 });
    await lab.mine();
    expect(await lab.states([txId, next])).toEqual(['MINED', 'MINED']);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    const noOp = lab.chain.minedBy(lab.node.signer().address, 0n)?.tx;
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'FAILED',
      subState: null,
      nonce: 0,
      failureReason: 'oversized data',
      txHash: noOp?.hash,
    });
    expect(await lab.states([next])).toEqual(['CONFIRMED']);
    expect(lab.minedWith(1)).toEqual([]);
  });

  it('has a history of attempts: the payload that was refused, and the no-op that was mined', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    const txId = await lab.sent(1);
    const attempts = () => lab.node.get(TxQueries).attempts(txId);
    expect(await attempts()).toMatchObject([
      { kind: 'payload', status: 'REJECTED', nonce: 0 },
      { kind: 'cancel', status: 'ACCEPTED', nonce: 0 },
    ]);
    await lab.confirmAll();
    expect(await attempts()).toMatchObject([{ status: 'LOST' }, { status: 'MINED' }]);
  });

  it('keeps its nonce for the next owner of the lease, who gives another one to what comes next', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    const refusedTx = await lab.sent(1);
    const next = await lab.takeOver();
    const txId = await lab.create(2);
    await next.step();
    expect(await next.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1 });
    await lab.confirmAll(next);
    expect(await lab.states([refusedTx, txId], next)).toEqual(['FAILED', 'CONFIRMED']);
  });

  it('in the middle of a batch holds up nothing: a no-op has its nonce, and all are mined in one block', async () => {
    lab.chain.faults.broadcast = onlyFor(MIDDLE, OVERSIZED);
    const ids = await sendThree();
    await lab.mine();
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
    expect(await lab.fills()).toEqual([]);
  });

  it('has a no-op that the next owner of the lease makes final, with the bytes that the first one sent', async () => {
    lab.chain.faults.broadcast = onlyFor(MIDDLE, OVERSIZED);
    const ids = await sendThree();
    const [noOp] = lab.chain.pooled().filter(({ data }) => data === '0x');
    const next = await lab.takeOver();
    await next.step();
    lab.chain.dropPool();
    await lab.resubmit(next);
    await lab.confirmAll(next);
    expect(await next.tx(ids[1] ?? '')).toMatchObject({ state: 'FAILED', txHash: noOp?.hash });
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
  });

  it('has a no-op of the next owner when the first one died before it signed one', async () => {
    lab.chain.faults.broadcast = onlyFor(MIDDLE, OVERSIZED);
    lab.node.get(SignNoOps).execute = () => Promise.reject(new Error('crashed'));
    const ids = [await lab.create(1), await lab.create(MIDDLE), await lab.create(3)];
    await lab.node.step().catch(() => undefined);
    expect(await lab.node.tx(ids[1] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    expect(lab.chain.pooled().map(({ nonce }) => nonce)).toEqual([0n, 2n]);
    const next = await lab.takeOver();
    await next.step();
    // Its timer ran out when it was refused.
    await next.resubmit();
    await lab.confirmAll(next);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
    expect(lab.minedWith(MIDDLE)).toEqual([]);
  });

  it('never has its payload sent again, and its no-op is signed anew with the gas that the chain asks for', async () => {
    let refusals = 0;
    lab.chain.faults.broadcast = ({ data, nonce }) => {
      if (nonce !== 1n) return undefined;
      if (data !== '0x') return OVERSIZED;
      refusals += 1;
      return refusals > 1 ? undefined : refused('intrinsic_gas_too_low', 'intrinsic gas too low');
    };
    const ids = await sendThree();
    const before = lab.chain.sent.length;
    lab.chain.faults.estimate = () => ({ kind: 'ok', gas: 40_000n });
    for (let round = 0; round < 3; round += 1) await lab.resubmit();
    expect(lab.chain.sent.slice(before).filter(({ nonce, data }) => nonce === 1n && data !== '0x')).toEqual([]);
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
  });
});

describe('a refusal in doubt', () => {
  it('never reports a payload FAILED while it may be out: the chain decides', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: true });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = () => refused('gas_limit_exceeds_block', 'exceeds block gas limit');
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED', nonce: 0 });
    // The payload was in the pool all the time, and is mined.
    delete lab.chain.faults.broadcast;
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('closes the slot with a no-op when the payload is not out, and the tx ends FAILED with the words of the node', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: false });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = ({ data }) => (data === '0x' ? undefined : OVERSIZED);
    const behind = await lab.create(2, { payload: { ...aRequest().payload, data: parseHex('0x') } });
    await lab.node.step();
    await lab.resubmit();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data', nonce: 0 });
    expect(await lab.node.tx(behind)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect(lab.minedWith(1)).toHaveLength(0);
  });

  it('is what a refusal after a crash is: nobody knows whether the bytes went out before', async () => {
    const txId = await lab.create(1);
    const attempts = lab.node.get(AttemptRepository);
    const record = attempts.recordOutcomes;
    attempts.recordOutcomes = () => Promise.reject(new Error('crashed'));
    await lab.node.step().catch(() => undefined);
    attempts.recordOutcomes = record;
    lab.chain.faults.broadcast = () => refused('execution_reverted', 'execution reverted: already claimed');
    await lab.node.step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });
});

describe('a gap', () => {
  it('whose tx never left the node is filled, and the next owner of the lease makes the fill final with the same bytes', async () => {
    const ids = await lab.gap();
    await lab.node.step();
    const [before] = await lab.openFills();
    const next = await lab.takeOver();
    await next.step();
    await lab.confirmAll(next);
    expect(await lab.fills(next)).toMatchObject([{ txId: before?.txId, state: 'CONFIRMED', txHash: before?.txHash }]);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });

  it('is filled by the next owner of the lease when the first one could not', async () => {
    const ids = await lab.gap();
    const next = await lab.takeOver();
    await next.step();
    await lab.confirmAll(next);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
  });
});

describe('a fill', () => {
  it('is final only when its block is deep enough: a reorg that loses it has it sent again', async () => {
    const ids = await lab.gap();
    await lab.node.step();
    await lab.mine();
    await lab.node.step();
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    let owner = lab.node;
    for (let round = 0; round < 3; round += 1) {
      await lab.resubmit(owner);
      // Holes are looked after once a second; another owner looks at once.
      owner = await lab.takeOver(owner);
      await owner.step();
      await lab.mine(owner);
    }
    lab.chain.mineEmpty(3);
    await owner.follow();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CANCELLED', 'CONFIRMED']);
  });

  it('that is refused for good is signed anew, with the gas that the chain asks for', async () => {
    await lab.gap();
    let refusals = 0;
    lab.chain.faults.broadcast = ({ data }) => {
      if (data !== '0x' || refusals > 0) return undefined;
      refusals += 1;
      return refused('intrinsic_gas_too_low', 'intrinsic gas too low');
    };
    await lab.node.step();
    expect(refusals).toBe(1);
    lab.chain.faults.estimate = () => ({ kind: 'ok', gas: 40_000n });
    const successor = await lab.takeOver();
    await successor.step();
    const nonces = lab.chain.pooled().map(({ nonce }) => nonce);
    expect(nonces.sort()).toEqual([0n, 1n, 2n]);
  });
});
