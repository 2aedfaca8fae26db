import { describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../src/modules/chain/index.js';
import { AttemptSigner } from '../../src/modules/sending/application/attempt-signer.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { onlyFor, refused, timedOut } from '../support/send-faults.js';
import { createTestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';
import { NO_FEES } from '../../src/modules/ledger/domain/tx-request.js';

const lab = nodeLab();

describe('a lane', () => {
  it('takes a tx from PENDING to CONFIRMED and leaves its audit trail', async () => {
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
    expect(await reasons(txId)).toEqual(['queued', 'nonce_reserved', 'signed', 'sent', 'mined', 'confirmed']);
  });

  it('starts at the nonce of the chain, also when outside senders used the account before', async () => {
    const first = await lab.sent(1);
    lab.chain.mine();
    // A new deployment, with an empty database, on an account that is not new.
    const fresh = await createTestDatabase();
    const late = await TestNode.start(fresh.url, lab.chain);
    const { txId } = await late.create({ ...aRequest(), signer: late.signer() });
    await late.step();
    // One count that is above the cursor proves nothing: a look at a later block must say the same.
    expect(await late.tx(txId)).toMatchObject({ state: 'PENDING', nonce: null });
    lab.chain.mineEmpty();
    await late.step();
    expect(await late.tx(txId)).toMatchObject({ nonce: 1 });
    expect(await lab.node.tx(first)).toMatchObject({ nonce: 0 });
    await late.close();
    await fresh.drop();
  });

  it('gives a batch consecutive nonces by priority, then by age', async () => {
    const low = await lab.create(1, { priority: -1 });
    const normal = await lab.create(2);
    const urgent = await lab.create(3, { priority: 5 });
    await lab.node.step();
    const nonces = await Promise.all([urgent, normal, low].map(async (txId) => (await lab.node.tx(txId)).nonce));
    expect(nonces).toEqual([0, 1, 2]);
  });

  it('never has more than maxInFlight of a signer unmined', async () => {
    const narrow = await lab.startNode({ execution: { maxInFlight: 2 } });
    for (const tag of [1, 2, 3]) await lab.create(tag);
    await narrow.step();
    await narrow.step();
    expect(lab.chain.pooled()).toHaveLength(2);
    await lab.mine(narrow);
    await narrow.step();
    expect(lab.chain.sent).toHaveLength(3);
  });

  it('ends a tx that would revert, with the reason, and burns no nonce', async () => {
    lab.chain.faults.estimate = onlyFor(1, { kind: 'reverted', reason: 'Error: too poor' });
    const poor = await lab.create(1);
    const rich = await lab.create(2);
    await lab.stepTwice();
    expect(await lab.node.tx(poor)).toMatchObject({
      state: 'FAILED',
      nonce: null,
      failureReason: 'execution reverted: Error: too poor',
    });
    expect(await lab.node.tx(rich)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('drops what expired before it was sent', async () => {
    const txId = await lab.create(1, { expiresAt: new Date(0) });
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'DROPPED', nonce: null });
  });

  it('counts a tx as sent when the outcome is not known, and never signs another for it', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: true });
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'OUTCOME_UNKNOWN', nonce: 0 });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(await lab.node.get(TxQueries).attempts(txId)).toHaveLength(1);
  });

  it('waits without a nonce when the account cannot pay', async () => {
    lab.chain.faults.estimate = () => ({ kind: 'insufficient_funds', message: 'insufficient funds' });
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS', nonce: null });
  });

  it('keeps the nonce and sends the same bytes again when the account cannot pay at the send', async () => {
    lab.chain.faults.broadcast = () => refused('insufficient_funds', 'insufficient funds');
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'ALLOCATED', subState: 'INSUFFICIENT_FUNDS', nonce: 0 });
    delete lab.chain.faults.broadcast;
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
    expect(new Set(lab.chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });

  it('sends the same bytes again when the pool forgot them', async () => {
    const txId = await lab.sent(1);
    lab.chain.dropPool();
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE' });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(lab.chain.sent.map(({ hash }) => hash)).toEqual([lab.chain.sent[0]?.hash, lab.chain.sent[0]?.hash]);
  });

  async function reasons(txId: string): Promise<string[]> {
    const { rows } = await lab.node
      .get(Database)
      .query<{ reason: string }>(
        { name: 'test_reasons', text: 'SELECT reason FROM tx_event WHERE tx_id = $1 ORDER BY seq' },
        [txId],
      );
    return rows.map((row) => row.reason);
  }
});

describe('a lane that shares its step', () => {
  it('is not held up by a signer whose key fails', async () => {
    const { node } = lab;
    const signers = [node.signer(0), node.signer(1)];
    const created = await Promise.all(signers.map((signer) => node.create({ ...aRequest(), signer })));
    const ids = created.map(({ txId }) => txId);
    const signer = node.get(AttemptSigner);
    const sign = signer.sign.bind(signer);
    signer.sign = async (drafts) => {
      if (drafts.some((draft) => draft.signer.address === node.signer(0).address))
        throw new Error('the vault is sealed');
      return sign(drafts);
    };
    await node.step(...signers);
    expect(await lab.states(ids)).toEqual(['ALLOCATED', 'IN_MEMPOOL']);
    // And when the vault is open again, nothing was lost.
    signer.sign = sign;
    await node.step(...signers);
    expect(await node.tx(ids[0] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('is not held up by a signer whose account no node answers for', async () => {
    const { node, chain } = lab;
    const signers = [node.signer(0), node.signer(1), node.signer(2)];
    const ids: string[] = [];
    for (const signer of signers) ids.push((await node.create({ ...aRequest(), signer })).txId);
    const counts = chain.transactionCounts.bind(chain);
    chain.transactionCounts = async (accounts, tag) => {
      if (accounts.includes(node.signer(1).address))
        throw new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'eth_getTransactionCount' }, 'down');
      return counts(accounts, tag);
    };
    await node.step(...signers);
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'PENDING', 'IN_MEMPOOL']);
    chain.transactionCounts = counts;
    await node.step(...signers);
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
  });
});

describe('one request', () => {
  it('with a fee cap below the base fee waits without a nonce, and holds up nobody', async () => {
    const cheap = await lab.create(1, { fees: { ...NO_FEES, maxFeePerGas: 1n } });
    await waitsAlone(cheap, 'FEE_CAPPED');
  });

  it('that the balance does not cover waits without a nonce, and parks what is behind it', async () => {
    const dear = await lab.create(1, { payload: { ...aRequest().payload, value: 10n ** 30n, gasLimit: 21_000n } });
    const behind = await lab.sent(2);
    expect(await lab.node.tx(dear)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS', nonce: null });
    expect(await lab.node.tx(behind)).toMatchObject({ state: 'PENDING', subState: null, nonce: null });
  });

  it('that cannot be estimated gives way to those behind it', async () => {
    const narrow = await lab.startNode({ execution: { maxInFlight: 1 } });
    lab.chain.faults.estimate = onlyFor(1, { kind: 'unavailable', message: 'invalid argument 0' });
    const ids = [await lab.create(1), await lab.create(2)];
    await narrow.step();
    await narrow.step();
    expect(await lab.states(ids)).toEqual(['PENDING', 'IN_MEMPOOL']);
  });

  async function waitsAlone(txId: string, subState: string): Promise<void> {
    const normal = await lab.sent(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState, nonce: null });
    expect(await lab.node.tx(normal)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  }
});
