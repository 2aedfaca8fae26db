import { describe, expect, it } from '@jest/globals';
import { PauseSigner } from '../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { SignerOverview } from '../../src/modules/ops/application/signer-overview.js';
import { FencedUnitOfWork, LeaseManager } from '../../src/modules/signers/index.js';
import { TxHistory } from '../../src/modules/events/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest, aSigner, DEV_CHAIN } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';
import { TxQueue } from '../../src/modules/ledger/domain/tx-queue.js';

const lab = nodeLab();
const REQUEST = { by: 'api', reason: 'key rotation' };

const pause = (by = lab.node, signer = lab.node.signer()) => by.get(PauseSigner).execute(signer, REQUEST);
const resume = (by = lab.node) => by.get(ResumeSigner).execute(lab.node.signer(), { by: 'api', reason: null });

async function signerEvents(): Promise<object[]> {
  const text = `SELECT signer, reason, tx_id, from_state, to_state, node_id, fencing_token, detail FROM tx_event WHERE signer IS NOT NULL ORDER BY seq`;
  return (await lab.node.get(Database).query<object>({ name: 'test_signer_events', text }, [])).rows;
}

async function waiting(): Promise<number> {
  const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await lab.node.get(Database).query({ name: 'test_waiting', text }, [])).rows.length;
}

describe('a signer that another node paused', () => {
  it('gives no nonce to what waits, and goes on with what has one', async () => {
    const [sent, waits] = [await lab.sent(1), await lab.create(2)];
    await pause(await lab.startNode());
    lab.chain.estimateGas = () => Promise.reject(new Error('the queue was read'));
    await lab.node.step();
    expect(await lab.node.tx(waits)).toMatchObject({ state: 'PENDING', subState: 'SIGNER_PAUSED', nonce: null });
    await makeDue(lab.node);
    await lab.node.resubmit();
    expect((await lab.node.get(TxHistory).of(sent)).map(({ reason }) => reason)).toContain('resubmitted');
    await lab.confirmAll();
    expect(await lab.node.tx(sent)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(await lab.node.tx(waits)).toMatchObject({ state: 'PENDING', subState: 'SIGNER_PAUSED' });
  });

  it('ends what waits when it expires', async () => {
    await lab.sent(1);
    const [expires, waits] = [await lab.create(2), await lab.create(3)];
    await pause();
    const text = 'UPDATE managed_tx SET expires_at = now() WHERE tx_id = ANY($1::uuid[])';
    await lab.node.get(Database).query({ name: 'test_expire', text }, [[expires]]);
    await lab.node.commands();
    expect(await lab.states([expires, waits])).toEqual(['DROPPED', 'PENDING']);
  });

  it('wakes no lane for its queue, and its neighbour goes on', async () => {
    await lab.create(1);
    const neighbour = await lab.create(2, { signer: lab.node.signer(1) });
    await pause();
    const repository = lab.node.get(TxQueue);
    const pending = async () =>
      (await repository.signersWithWork(DEV_CHAIN)).filter(({ hasPending }) => hasPending).map(({ signer }) => signer);
    expect(await pending()).toEqual([lab.node.signer(1)]);
    await lab.node.step(lab.node.signer(), lab.node.signer(1));
    expect((await lab.node.tx(neighbour)).state).toBe('IN_MEMPOOL');
    await resume();
    expect(await pending()).toEqual([lab.node.signer()]);
  });

  it('gives nonces again when it is resumed, in the order of its queue', async () => {
    await pause();
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    await resume();
    await lab.node.step();
    expect(await Promise.all(ids.map((id) => lab.node.tx(id)))).toMatchObject([
      { state: 'IN_MEMPOOL', subState: null, nonce: 0 },
      { state: 'IN_MEMPOOL', subState: null, nonce: 1 },
    ]);
  });

  it('says so in the list of signers', async () => {
    const paused = async () => (await lab.node.get(SignerOverview).list(null, 9)).flatMap((view) => view.paused ?? []);
    expect(await paused()).toEqual([]);
    const { since } = await pause();
    expect(await paused()).toEqual([{ since: since.toISOString(), ...REQUEST }]);
    await resume();
    expect(await paused()).toEqual([]);
  });

  it('is told by creates, new ones and repeated ones', async () => {
    const request = { ...aRequest(), signer: lab.node.signer() };
    expect(await lab.node.create(request)).toMatchObject({ isNew: true, isPaused: false });
    await pause();
    expect(await lab.node.create(request)).toMatchObject({ isNew: false, isPaused: true });
    expect(await lab.node.create({ ...request, requestId: 'other' })).toMatchObject({ isNew: true, isPaused: true });
  });
});

describe('the audit trail', () => {
  it('has one entry for each change, and none for a repetition', async () => {
    const { address } = lab.node.signer();
    const { since } = await pause();
    expect((await pause()).since).toEqual(since);
    await resume();
    await resume();
    const entry = { signer: address, tx_id: null, from_state: null, to_state: null, fencing_token: null };
    expect(await signerEvents()).toMatchObject([
      { ...entry, reason: 'paused', detail: REQUEST },
      { ...entry, reason: 'resumed', detail: { by: 'api', reason: null } },
    ]);
  });

  it('has none for a signer that nobody knows', async () => {
    await expect(pause(lab.node, aSigner(77))).rejects.toMatchObject({ code: 'unknown_signer' });
    expect(await signerEvents()).toEqual([]);
  });
});

describe('a pause while a lane step runs', () => {
  it('stops what the step has read already', async () => {
    const txId = await lab.create(1);
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => {
      await pause();
      return estimate(calls);
    };
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', nonce: null });
  });

  it('returns only when a write that began before it has ended', async () => {
    await lab.sent(1);
    const lease = lab.node.get(LeaseManager).held(lab.node.signer());
    if (!lease) throw new Error('the node has no lease');
    const other = await lab.startNode();
    const [holds, mayEnd] = [gate(), gate()];
    const order: string[] = [];
    const writing = lab.node.get(FencedUnitOfWork).run([lease], 'test', async () => {
      holds.open();
      await mayEnd.opened;
      order.push('write');
    });
    await holds.opened;
    const pausing = pause(other).then(() => order.push('paused'));
    await until('the pause waits for a lock, or is answered', async () => order.length > 0 || (await waiting()) > 0);
    mayEnd.open();
    await Promise.all([writing, pausing]);
    expect(order).toEqual(['write', 'paused']);
  });
});
