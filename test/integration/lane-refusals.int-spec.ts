import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { aRequest } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { onlyFor, OVERSIZED, refused, tagged, timedOut } from '../support/send-faults.js';

const lab = nodeLab();
/** Three of one signer, of which nonce 1 is refused for good, so that it has to be filled. */
const GAP = 2;

async function sendThree(): Promise<string[]> {
  const ids = [await lab.create(1), await lab.create(GAP), await lab.create(3)];
  await lab.node.step();
  return ids;
}

describe('a tx that is refused for good', () => {
  it('fails, and its nonce is given to the next payload', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    const poison = await lab.sent(1);
    expect(await lab.node.tx(poison)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data' });
    const next = await lab.sent(2);
    expect(await lab.node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('leaves a free nonce that the next owner of the lease knows, too', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    await lab.sent(1);
    const next = await lab.takeOver();
    const txId = await lab.create(2);
    await next.step();
    expect(await next.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('in the middle of a batch leaves a gap, which is filled', async () => {
    lab.chain.faults.broadcast = onlyFor(GAP, OVERSIZED);
    const ids = await sendThree();
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });

  it('leaves a gap whose fill the next owner of the lease makes final, with the bytes that the first one sent', async () => {
    lab.chain.faults.broadcast = onlyFor(GAP, OVERSIZED);
    const ids = await sendThree();
    const [before] = await lab.openFills();
    const next = await lab.takeOver();
    await next.step();
    await lab.confirmAll(next);
    expect(await lab.fills(next)).toMatchObject([{ txId: before?.txId, state: 'CONFIRMED', txHash: before?.txHash }]);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
  });
});

describe('a refusal in doubt', () => {
  it('never reports a payload FAILED while it may be out: the chain decides', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: true });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = () => refused('gas_limit_exceeds_block', 'exceeds block gas limit');
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING', nonce: 0 });
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

describe('a fill', () => {
  it('is final only when its block is deep enough: a reorg that loses it has it sent again', async () => {
    lab.chain.faults.broadcast = onlyFor(GAP, OVERSIZED);
    const ids = await sendThree();
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
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
  });

  it('that is refused for good is signed anew, with the gas that the chain asks for', async () => {
    let refusals = 0;
    lab.chain.faults.broadcast = ({ data }) => {
      if (data === tagged(GAP)) return OVERSIZED;
      if (data !== '0x' || refusals > 0) return undefined;
      refusals += 1;
      return refused('intrinsic_gas_too_low', 'intrinsic gas too low');
    };
    await sendThree();
    lab.chain.faults.estimate = () => ({ kind: 'ok', gas: 40_000n });
    const successor = await lab.takeOver();
    await successor.step();
    const nonces = lab.chain.pooled().map(({ nonce }) => nonce);
    expect(nonces.sort()).toEqual([0n, 1n, 2n]);
  });
});
