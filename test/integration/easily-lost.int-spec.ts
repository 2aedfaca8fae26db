import { describe, expect, it } from '@jest/globals';
import { FencedUnitOfWork } from '../../src/modules/signers/index.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { MinedTxs } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, aReceipt } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, refused, tagged, timedOut } from '../support/send-faults.js';
import { NO_FEES } from '../../src/modules/ledger/domain/tx-request.js';

const lab = nodeLab();
const GWEI = 1_000_000_000n;

/** Small faults that were put into the code here went unnoticed by all other tests. */
describe('a guarantee that is easily lost', () => {
  it('a reorg whose handling failed once is handled at the next look', async () => {
    const txId = await lab.sent(1);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    lab.chain.reorg(3, { drop: true });
    const mined = lab.node.get(MinedTxs);
    const finalIn = mined.finalIn;
    mined.finalIn = () => Promise.reject(new Error('the database is away'));
    await lab.node.follow().catch(() => undefined);
    mined.finalIn = finalIn;
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });

  it('a reverted tx that a deep reorg opens is sent again, and not closed', async () => {
    lab.chain.faults.status = ({ data }) => (data === tagged(1) ? 'reverted' : undefined);
    const txId = await lab.sent(1);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['FAILED']);
    delete lab.chain.faults.status;
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    await lab.resubmit();
    expect(lab.chain.pooled().map(({ data }) => data)).toEqual([tagged(1)]);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('a REJECTED that is found may have been sent again since', async () => {
    lab.chain.faults.broadcast = () => refused('insufficient_funds', 'insufficient funds');
    const txId = await lab.sent(1);
    delete lab.chain.faults.broadcast;
    const attempts = lab.node.get(AttemptRepository);
    attempts.recordOutcomes = () => Promise.reject(new Error('crashed'));
    await lab.resubmit().catch(() => undefined);
    expect(lab.chain.pooled()).toHaveLength(1);
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    const next = await lab.takeOver();
    await next.step();
    expect(await lab.states([txId], next)).toEqual(['IN_MEMPOOL']);
    expect(await next.get(TxQueries).attempts(txId)).toMatchObject([{ status: 'UNKNOWN' }]);
    await lab.confirmAll(next);
    expect(await next.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('an UNSENT that is found may have been sent since, so nothing ends it but the chain', async () => {
    lab.chain.faults.broadcast = () => NOT_SENT;
    const txId = await lab.sent(1);
    expect(await lab.node.get(TxQueries).attempts(txId)).toMatchObject([{ status: 'UNSENT' }]);
    delete lab.chain.faults.broadcast;
    const attempts = lab.node.get(AttemptRepository);
    attempts.recordOutcomes = () => Promise.reject(new Error('crashed'));
    await lab.resubmit().catch(() => undefined);
    expect(lab.chain.pooled()).toHaveLength(1);
    // A cancel that comes before the next owner has sent it again.
    await lab.node.releaseLeases();
    const next = await lab.startNode();
    await new RaceLab(lab).cancel(txId, null, next);
    lab.chain.faults.broadcast = () => NOT_SENT;
    await next.step();
    await next.commands();
    expect(await next.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING' });
    await lab.confirmAll(next);
    expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('a gap of a later step is filled without a new owner', async () => {
    await lab.sent(9);
    await lab.gap();
    await lab.mine();
    await lab.node.step();
    expect(
      lab.chain
        .pooled()
        .concat(lab.chain.minedTxs())
        .map(({ nonce }) => Number(nonce))
        .sort(),
    ).toEqual([0, 1, 2, 3]);
  });

  it('a slot stays held while another attempt of it may be out, whatever became of the no-op', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: true });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = () => OVERSIZED;
    await lab.resubmit();
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    delete lab.chain.faults.broadcast;
    const next = await lab.sent(2);
    expect(await lab.node.tx(next)).toMatchObject({ nonce: 1 });
  });

  it('the closing no-op outbids a payload with high fees of its own', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: true });
    await lab.create(1, { fees: { ...NO_FEES, maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 50n * GWEI } });
    await lab.node.step();
    lab.chain.faults.broadcast = ({ data }) => (data === '0x' ? undefined : OVERSIZED);
    await lab.resubmit();
    await lab.resubmit();
    expect(lab.chain.pooled().map(({ data }) => data)).toEqual(['0x']);
  });

  it('a height whose canonical block nobody tells decides nothing', async () => {
    const txId = await lab.mined(1);
    const { number } = await lab.chain.head();
    await lab.node.get(Database).query({ name: 'test_forget', text: 'DELETE FROM chain_block' }, []);
    lab.chain.mineEmpty(5);
    const late = await lab.takeOver();
    await late.step();
    const honest = lab.chain.blocks.bind(lab.chain);
    lab.chain.blocks = async (numbers) => (await honest(numbers)).map((b) => (b?.number === number ? null : b));
    await late.follow();
    expect(await lab.states([txId], late)).toEqual(['MINED']);
    lab.chain.blocks = honest;
    lab.chain.mineEmpty(1);
    await late.follow();
    expect(await lab.states([txId], late)).toEqual(['CONFIRMED']);
  });

  it('a receipt from a block that nobody has is no place to wait for', async () => {
    const txId = await lab.sent(1);
    const [sent] = lab.chain.sent;
    lab.chain.mineEmpty();
    await lab.node.follow();
    const invented = aReceipt({ txHash: sent?.hash ?? aHash(1), blockNumber: 0xffffff, blockHash: aHash(404) });
    lab.chain.faults.receipt = () => ({ kind: 'found', receipt: invented });
    await makeDue(lab.node);
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    delete lab.chain.faults.receipt;
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });

  it('an allocation whose answer was lost is found by the next step', async () => {
    const txId = await lab.create(1);
    const unit = lab.node.get(FencedUnitOfWork);
    const run = unit.run.bind(unit);
    let lost = 0;
    unit.run = async (leases, operation, work) => {
      const result = await run(leases, operation, work);
      if (operation === 'allocate' && lost++ === 0) throw new Error('the answer was lost');
      return result;
    };
    await lab.node.step().catch(() => undefined);
    await lab.node.step().catch(() => undefined);
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });
});
