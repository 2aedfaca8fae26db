import { describe, expect, it } from '@jest/globals';
import { ANYONE, type CallerLimits, limitedTo, NO_LIMITS } from '../../src/kernel/caller.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { PauseSigner } from '../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { SignerOverview } from '../../src/modules/ops/application/signer-overview.js';
import {
  FencedUnitOfWork,
  LeaseManager,
  type PausePlace,
  type PauseScope,
  SignerPauses,
} from '../../src/modules/signers/index.js';
import { TxHistory } from '../../src/modules/events/index.js';
import { Database } from '../../src/platform/database/database.js';
import { TxQueries } from '../../src/modules/ledger/index.js';
import { RaceLab } from '../support/race-lab.js';
import { aPauseOrder, aRequest, aSigner, DEV_CHAIN } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';
import { TxQueue } from '../../src/modules/ledger/domain/tx-queue.js';

const lab = nodeLab();
const REQUEST = { by: 'api', reason: 'key rotation' };
const ORDER = aPauseOrder('key rotation');

const pause = (by = lab.node, signer = lab.node.signer()) => by.get(PauseSigner).execute(signer, ORDER);
const resume = (by = lab.node) => by.get(ResumeSigner).execute(lab.node.signer(), aPauseOrder());

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
    const paused = async () =>
      (await lab.node.get(SignerOverview).list(null, 9, ANYONE)).flatMap((view) => view.paused ?? []);
    expect(await paused()).toEqual([]);
    const { since } = await pause();
    expect(await paused()).toEqual([
      { chainId: DEV_CHAIN, signer: lab.node.signer().address, account: null, since: since.toISOString(), ...REQUEST },
    ]);
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

/** A write under the lease of a signer that lasts until it is ended. */
async function slowWrite(signer: SignerId, atEnd: () => void): Promise<{ end(): Promise<void> }> {
  const lease = lab.node.get(LeaseManager).held(signer);
  if (!lease) throw new Error('the node has no lease');
  const [holds, mayEnd] = [gate(), gate()];
  const writing = lab.node.get(FencedUnitOfWork).run([lease], 'test', async () => {
    holds.open();
    await mayEnd.opened;
    atEnd();
  });
  await holds.opened;
  return {
    end() {
      mayEnd.open();
      return writing;
    },
  };
}

describe('the audit trail', () => {
  it('has one entry for each change, and none for a repetition', async () => {
    const { address } = lab.node.signer();
    const { since } = await pause();
    expect((await pause()).since).toEqual(since);
    await resume();
    await resume();
    const entry = { signer: address, tx_id: null, from_state: null, to_state: null, fencing_token: null };
    expect(await signerEvents()).toMatchObject([
      { ...entry, reason: 'paused', detail: { ...REQUEST, scope: 'signer' } },
      { ...entry, reason: 'resumed', detail: { by: 'api', reason: null, scope: 'signer' } },
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
    const other = await lab.startNode();
    const order: string[] = [];
    const write = await slowWrite(lab.node.signer(), () => order.push('write'));
    const pausing = pause(other).then(() => order.push('paused'));
    await until('the pause waits for a lock, or is answered', async () => order.length > 0 || (await waiting()) > 0);
    await Promise.all([write.end(), pausing]);
    expect(order).toEqual(['write', 'paused']);
  });
});

describe('a stop of many', () => {
  const stop = (scope: Partial<PauseScope>, by = lab.node) =>
    by.get(PauseSigner).execute({ chainId: null, address: null, ...scope }, ORDER);
  const go = (scope: Partial<PauseScope>) =>
    lab.node.get(ResumeSigner).execute({ chainId: null, address: null, ...scope }, aPauseOrder());
  const list = (after: PausePlace | null = null, limit = 9) =>
    lab.node.get(SignerPauses).list(after, limit, NO_LIMITS, null);
  const step = () => lab.node.step(lab.node.signer(), lab.node.signer(1));
  const scopes = {
    chain: () => ({ chainId: DEV_CHAIN }),
    address: () => ({ address: lab.node.signer().address }),
    all: () => ({}),
  };

  it.each(['chain', 'address', 'all'] as const)('holds for whom it names, and until it is ended: %s', async (kind) => {
    const ids = [await lab.create(1), await lab.create(2, { signer: lab.node.signer(1) })];
    await stop(scopes[kind](), await lab.startNode());
    await step();
    expect(await lab.states(ids)).toEqual(['PENDING', kind === 'address' ? 'IN_MEMPOOL' : 'PENDING']);
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({ subState: 'SIGNER_PAUSED' });
    const request = { ...aRequest(), signer: lab.node.signer(), requestId: 'later' };
    expect(await lab.node.create(request)).toMatchObject({ isNew: true, isPaused: true });
    await go(scopes[kind]());
    await step();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  });

  it('is shown to those whom it may hold for', async () => {
    const { address } = lab.node.signer();
    const other = lab.node.signer(1);
    for (const scope of [{}, { chainId: DEV_CHAIN }, { address }, { chainId: DEV_CHAIN, address }, other])
      await stop(scope);
    const scopesShown = async (only: CallerLimits) =>
      (await lab.node.get(SignerPauses).list(null, 9, only, null)).map((one) => [one.chainId, one.address]);
    const [all, chain, everywhere] = [
      [null, null],
      [DEV_CHAIN, null],
      [null, address],
    ];
    const ours = [DEV_CHAIN, address];
    const theirs = [DEV_CHAIN, other.address];
    expect((await scopesShown(NO_LIMITS)).length).toBe(5);
    expect(await scopesShown(limitedTo([lab.node.signer()], null))).toEqual([all, everywhere, chain, ours]);
    expect(await scopesShown(limitedTo([other], null))).toEqual([all, chain, theirs]);
    expect(await scopesShown(limitedTo(null, [7]))).toEqual([all, everywhere]);
    expect(await scopesShown(limitedTo([{ chainId: 7, address }], null))).toEqual([all, everywhere]);
  });

  it('of another chain, or of another address, holds for nobody here', async () => {
    const txId = await lab.create(1);
    const elsewhere = { chainId: DEV_CHAIN + 1, address: lab.node.signer().address };
    for (const scope of [elsewhere, { chainId: DEV_CHAIN + 1 }, { chainId: DEV_CHAIN, address: aSigner(77).address }])
      await expect(stop(scope)).rejects.toMatchObject({ code: 'unknown_signer' });
    const text = `INSERT INTO signer_pause (chain_id, signer, by) VALUES ($1, $2, 'op'), ($1, '', 'op'), ($3, $4, 'op')`;
    const { address } = aSigner(77);
    await lab.node
      .get(Database)
      .query({ name: 'test_elsewhere', text }, [elsewhere.chainId, elsewhere.address, DEV_CHAIN, address]);
    await step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });

  it('counts beside others: a signer goes on when the last one has ended, and shows the oldest', async () => {
    const txId = await lab.create(1);
    const first = await pause();
    await stop({});
    await stop({ chainId: DEV_CHAIN });
    expect(await lab.node.get(SignerPauses).of(lab.node.signer())).toEqual(first);
    await go({});
    await resume();
    await step();
    expect(await lab.states([txId])).toEqual(['PENDING']);
    expect(await lab.node.get(SignerPauses).of(lab.node.signer())).toMatchObject({ chainId: DEV_CHAIN, address: null });
    await go({ chainId: DEV_CHAIN });
    expect(await lab.node.get(SignerPauses).of(lab.node.signer())).toBeNull();
    await step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });

  it('ends alone: those of a part of its signers stay', async () => {
    await pause();
    for (const kind of ['address', 'chain', 'all'] as const) await stop(scopes[kind]());
    const { address } = lab.node.signer();
    await go({});
    expect(await list()).toMatchObject([
      { chainId: null, address },
      { chainId: DEV_CHAIN, address: null },
      { chainId: DEV_CHAIN, address },
    ]);
    await go({ chainId: DEV_CHAIN });
    expect(await list()).toMatchObject([
      { chainId: null, address },
      { chainId: DEV_CHAIN, address },
    ]);
  });

  // Whichever of the two lanes comes first in the order of their keys.
  it.each([0, 1])('waits for the slow write of one signer, and holds no other meanwhile: %s', async (slow) => {
    const [busy, free] = [lab.node.signer(slow), lab.node.signer(1 - slow)];
    await lab.create(1, { signer: busy });
    const sent = await lab.create(2, { signer: free });
    await step();
    const later = [await lab.create(3, { signer: busy }), await lab.create(4, { signer: free })];
    const order: string[] = [];
    const write = await slowWrite(busy, () => order.push('write'));
    const stopping = stop({}, await lab.startNode()).then(() => order.push('stopped'));
    await until('the stop waits for a lock, or is answered', async () => order.length > 0 || (await waiting()) > 0);
    lab.chain.mine();
    await lab.node.follow();
    await lab.node.step(free);
    order.push('neighbour');
    expect(await lab.node.tx(sent)).toMatchObject({ state: 'MINED' });
    expect(await lab.states(later)).toEqual(['PENDING', 'PENDING']);
    await Promise.all([write.end(), stopping]);
    expect(order).toEqual(['neighbour', 'write', 'stopped']);
    await step();
    expect(await lab.states(later)).toEqual(['PENDING', 'PENDING']);
  });

  it('of more signers than one statement locks waits for the last one', async () => {
    const { address } = lab.node.signer();
    const text = `
      INSERT INTO signer_lease (chain_id, signer, owner_node, fencing_token, acquired_at, expires_at, updated_at)
      SELECT 1, '0x' || lpad(to_hex(n), 40, '0'), 'another', 1, now(), now(), now() FROM generate_series(1, 1100) AS n`;
    await lab.sent(1);
    await lab.node.get(Database).query({ name: 'test_leases', text }, []);
    expect(DEV_CHAIN).toBeGreaterThan(1);
    const order: string[] = [];
    const write = await slowWrite({ chainId: DEV_CHAIN, address }, () => order.push('write'));
    const stopping = stop({}, await lab.startNode()).then(() => order.push('stopped'));
    await until('the stop waits for a lock, or is answered', async () => order.length > 0 || (await waiting()) > 0);
    await Promise.all([write.end(), stopping]);
    expect(order).toEqual(['write', 'stopped']);
  });

  it('is listed, the widest first and page by page, and told to each of its signers', async () => {
    await pause();
    await stop({ chainId: DEV_CHAIN });
    await stop({});
    const all = [{ chainId: null, address: null }, { chainId: DEV_CHAIN, address: null }, { ...lab.node.signer() }].map(
      (one) => ({ ...one, account: null }),
    );
    expect(await list()).toMatchObject(all);
    expect(await list(all[0] ?? null, 1)).toMatchObject(all.slice(1, 2));
    expect(await list(all[1] ?? null)).toMatchObject(all.slice(2));
    const told = (await signerEvents()) as { signer: string; detail: { scope: string } }[];
    const of = (address: string) => told.filter(({ signer }) => signer === address).map(({ detail }) => detail.scope);
    expect(of(lab.node.signer().address)).toEqual(['signer', 'chain', 'all']);
    expect(of(lab.node.signer(1).address)).toEqual(['chain', 'all']);
  });
});

describe('what was sent by a paused signer', () => {
  const race = new RaceLab(lab);
  const attempts = async (txId: string): Promise<number> => (await lab.node.get(TxQueries).attempts(txId)).length;

  async function later(): Promise<void> {
    for (let block = 0; block < 6; block += 1) {
      lab.chain.mineEmpty();
      await lab.node.follow();
      await lab.node.bump();
    }
  }

  it('gets no higher price, and one when it goes on', async () => {
    const txId = await lab.sent(1);
    await pause();
    await later();
    expect(await attempts(txId)).toBe(1);
    await resume();
    await later();
    expect(await attempts(txId)).toBe(2);
  });

  it('is cancelled, and is not replaced or sped up before it goes on', async () => {
    const [cancelled, replaced, faster] = [await lab.sent(1), await lab.sent(2), await lab.sent(3)];
    await pause();
    await race.cancel(cancelled);
    await race.replace(replaced, 4);
    await race.speedUp(faster);
    await lab.node.commands();
    await lab.resubmit();
    expect(await Promise.all([cancelled, replaced, faster].map(attempts))).toEqual([2, 1, 1]);
    expect(await lab.node.tx(cancelled)).toMatchObject({ subState: 'CANCELLING' });
    await later();
    expect(await Promise.all([cancelled, replaced, faster].map(attempts))).toEqual([3, 1, 1]);
    await resume();
    await lab.node.commands();
    expect(await attempts(faster)).toBe(2);
    expect((await lab.node.tx(replaced)).replacedBy).not.toBeNull();
  });

  it('is not replaced by a command that was read before the pause', async () => {
    const txId = await lab.sent(1);
    await race.replace(txId, 2);
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => {
      await pause();
      return estimate(calls);
    };
    await lab.node.commands();
    expect((await lab.node.tx(txId)).replacedBy).toBeNull();
    expect(lab.chain.sent).toHaveLength(1);
    await resume();
    lab.chain.estimateGas = estimate;
    await lab.node.commands();
    expect((await lab.node.tx(txId)).replacedBy).not.toBeNull();
  });
});
