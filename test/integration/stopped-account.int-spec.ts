import { describe, expect, it } from '@jest/globals';
import { ANYONE, limitedTo, NO_LIMITS } from '../../src/kernel/caller.js';
import { ExplainTx } from '../../src/modules/ops/application/explain-tx.js';
import { PauseSigner } from '../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { TxQueries } from '../../src/modules/ledger/index.js';
import { TxQueue } from '../../src/modules/ledger/domain/tx-queue.js';
import { FencedUnitOfWork, LeaseManager, type PauseScope, SignerPauses } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aPauseOrder, aRequest, DEV_CHAIN } from '../support/builders.js';
import { gate } from '../support/gate.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { onlyFor } from '../support/send-faults.js';
import { until } from '../support/until.js';

const SHOP = { id: '019aa2f4-7a1c-7c3e-9a52-000000000001', name: 'shop' };
const BANK = { id: '019aa2f4-7a1c-7c3e-9a52-000000000002', name: 'bank' };
const STOP: PauseScope = { chainId: null, address: null, account: SHOP };
const senderOf = ({ id, name }: typeof SHOP) => ({ sender: { ...ANYONE, name: `key:${name}`, account: id } });
const [ofShop, ofBank] = [senderOf(SHOP), senderOf(BANK)];

const lab = nodeLab();
const race = new RaceLab(lab);

const stop = (by = lab.node) => by.get(PauseSigner).execute(STOP, aPauseOrder('stolen key'));
const go = (by = lab.node) => by.get(ResumeSigner).execute(STOP, aPauseOrder());
const shop = (tag: number) => lab.create(tag, ofShop);
const bank = (tag: number) => lab.create(tag, ofBank);
const attempts = async (txId: string): Promise<number> => (await lab.node.get(TxQueries).attempts(txId)).length;

async function query(
  text: string,
  values: (string | readonly string[] | number)[],
): Promise<Record<string, unknown>[]> {
  const name = `test_${text.slice(0, 50)}`;
  return (await lab.node.get(Database).query<Record<string, unknown>>({ name, text }, values)).rows;
}

/** State, sub state and nonce, as stored. */
async function stored(...ids: readonly string[]): Promise<unknown[]> {
  const text = `SELECT tx_id, concat_ws(' ', state, sub_state, nonce) AS row FROM managed_tx WHERE tx_id = ANY($1::uuid[])`;
  const rows = new Map((await query(text, [ids])).map(({ tx_id: id, row }) => [id, row]));
  return ids.map((id) => rows.get(id));
}

const WAITS = 'PENDING ACCOUNT_STOPPED';

describe('an account that another node stopped', () => {
  it('gets no nonce until it goes on, in the order of its queue, and the other one that uses its signer does', async () => {
    const sent = await shop(1);
    await lab.node.step();
    const [first, neighbour, second] = [await shop(2), await bank(3), await shop(4)];
    await stop(await lab.startNode());
    await lab.node.step();
    await lab.node.step();
    expect(await stored(sent, first, neighbour, second)).toEqual(['IN_MEMPOOL 0', WAITS, 'IN_MEMPOOL 1', WAITS]);
    await lab.confirmAll();
    await lab.live(2);
    expect(await stored(sent, neighbour, first, second)).toEqual(['CONFIRMED 0', 'CONFIRMED 1', WAITS, WAITS]);
    await go(await lab.startNode());
    await lab.node.step();
    expect(await stored(first, second)).toEqual(['IN_MEMPOOL 2', 'IN_MEMPOOL 3']);
  });

  it('goes on sending requests, which wait, with each of its signers', async () => {
    await stop();
    const request = (requestId: string) => ({ ...aRequest(), signer: lab.node.signer(), requestId });
    expect(await lab.node.create({ ...request('a'), ...ofShop })).toMatchObject({ isNew: true, isPaused: true });
    expect(await lab.node.create({ ...request('a'), ...ofBank })).toMatchObject({ isNew: true, isPaused: false });
    const elsewhere = await lab.create(2, { ...ofShop, signer: lab.node.signer(1) });
    await lab.node.step(lab.node.signer(), lab.node.signer(1));
    expect(await stored(elsewhere)).toEqual([WAITS]);
    expect(await stored((await lab.node.create({ ...request('a'), ...ofBank })).txId)).toEqual(['IN_MEMPOOL 0']);
  });

  it('is a stop of one that has no account of its own, too', async () => {
    const account = { id: ANYONE.account, name: 'default' };
    const ids = [await lab.create(1), await bank(2)];
    await lab.node.get(PauseSigner).execute({ ...STOP, account }, aPauseOrder());
    await lab.node.step();
    expect(await stored(...ids)).toEqual([WAITS, 'IN_MEMPOOL 0']);
    await lab.node.get(ResumeSigner).execute({ ...STOP, account }, aPauseOrder());
    await lab.node.step();
    expect(await stored(...ids)).toEqual(['IN_MEMPOOL 1', 'IN_MEMPOOL 0']);
  });

  it('is kept by the next owner, which finds nothing but what is written', async () => {
    const ids = [await shop(1), await bank(2)];
    await stop();
    await lab.node.step();
    const next = await lab.takeOver();
    await makeWaitingDue(next);
    await next.step();
    expect(await stored(...ids)).toEqual([WAITS, 'IN_MEMPOOL 0']);
  });

  it('is not in the way of others with many that wait in front of them, nor with what its balance does not cover', async () => {
    const narrow = await lab.startNode({}, ({ execution }) => void Object.assign(execution, { batchSize: 1 }));
    const { payload } = aRequest();
    const unfunded = await lab.create(1, { ...ofShop, payload: { ...payload, value: 10n ** 30n } });
    await lab.node.step();
    expect(await stored(unfunded)).toEqual(['PENDING INSUFFICIENT_FUNDS']);
    const crowd = await Promise.all(Array.from({ length: 30 }, (_, tag) => shop(tag + 10)));
    const neighbour = await bank(2);
    await lab.node.releaseLeases();
    await stop();
    await makeWaitingDue(narrow);
    for (let look = 0; look < 3; look += 1) await narrow.step();
    expect(await stored(unfunded, ...crowd, neighbour)).toEqual([...crowd.map(() => WAITS), WAITS, 'IN_MEMPOOL 0']);
  });

  it('is not in the way of others with what was tried, however many were not', async () => {
    const narrow = await lab.startNode({}, ({ execution }) => void Object.assign(execution, { batchSize: 2 }));
    const [tried, neighbour] = [await shop(1), await bank(2)];
    await query(`UPDATE managed_tx SET next_resubmit_at = created_at WHERE tx_id = ANY($1::uuid[]) RETURNING 1`, [
      [tried],
    ]);
    await query(
      `INSERT INTO managed_tx (tx_id, chain_id, signer, account_id, request_id, request_hash, to_address, value, data, options, priority, state)
       SELECT overlay(tx_id::text PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid, chain_id, signer, account_id, 'many-' || n, request_hash, to_address, value, data, options, priority, state
         FROM managed_tx, generate_series(1, 1000) AS n WHERE tx_id = ANY($1::uuid[]) RETURNING 1`,
      [[neighbour]],
    );
    await stop();
    await narrow.step();
    expect(await stored(tried)).toEqual([WAITS]);
  });

  it('is not in the way of a client that cancels what a lane sets aside', async () => {
    const [waits, cancelled] = [await lab.create(1), await lab.create(2)];
    const account = { id: ANYONE.account, name: 'default' };
    const queue = lab.node.get(TxQueue);
    const lock = queue.lockStopped.bind(queue);
    queue.lockStopped = async (fence, txs) => {
      await race.cancel(cancelled);
      return lock(fence, txs);
    };
    await lab.node.get(PauseSigner).execute({ ...STOP, account }, aPauseOrder());
    await lab.node.step();
    expect(await stored(waits, cancelled)).toEqual([WAITS, 'CANCELLED']);
  });

  it('asks for no look at what was set aside, and for one when it goes on', async () => {
    await shop(1);
    await stop();
    await lab.node.step();
    const pending = async () =>
      (await lab.node.get(TxQueue).signersWithWork(DEV_CHAIN)).filter(({ hasPending }) => hasPending).length;
    expect(await pending()).toBe(0);
    await go();
    expect(await pending()).toBe(1);
  });
});

describe('a stop of an account in the middle of something', () => {
  it('stops what a step has read already', async () => {
    const ids = [await shop(1), await bank(2)];
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => {
      await stop();
      return estimate(calls);
    };
    await lab.node.step();
    expect(await stored(...ids)).toEqual(['PENDING', 'IN_MEMPOOL 0']);
  });

  it('is answered only when a write that began before it has ended, and so is its end', async () => {
    await bank(1);
    await lab.node.step();
    const lease = lab.node.get(LeaseManager).held(lab.node.signer());
    if (!lease) throw new Error('the node has no lease');
    const other = await lab.startNode();
    for (const change of [stop, go]) {
      const order: string[] = [];
      const [holds, mayEnd] = [gate(), gate()];
      const writing = lab.node.get(FencedUnitOfWork).run([lease], 'test', async () => {
        holds.open();
        await mayEnd.opened;
        order.push('write');
      });
      await holds.opened;
      const changing = change(other).then(() => order.push('answer'));
      const locks = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until('it waits, or is answered', async () => order.length > 0 || (await query(locks, [])).length > 0);
      mayEnd.open();
      await Promise.all([writing, changing]);
      expect(order).toEqual(['write', 'answer']);
    }
  });

  it('holds for what the account asks of any signer, and for no other account', async () => {
    await stop();
    const of = (account?: string) => lab.node.get(SignerPauses).of(lab.node.signer(), account);
    expect([await of(), await of(STOP.account?.id)]).toMatchObject([null, { account: STOP.account }]);
    expect(await of('00000000-0000-7000-8000-000000000000')).toBeNull();
  });

  it('sets nothing aside when it ended after the look', async () => {
    const txId = await shop(1);
    await stop();
    const queue = lab.node.get(TxQueue);
    const lock = queue.lockStopped.bind(queue);
    queue.lockStopped = async (fence, txs) => {
      await lab.node.get(SignerPauses).resume(fence.tx, STOP);
      return lock(fence, txs);
    };
    await lab.node.step();
    expect(await stored(txId)).toEqual(['PENDING']);
    await lab.node.step();
    expect(await stored(txId)).toEqual(['IN_MEMPOOL 0']);
  });
});

describe('what a stopped account sent before', () => {
  /** Of an account that has commands: those of this lab are of anyone. */
  const account = { id: ANYONE.account, name: 'default' };
  const stopDefault = () => lab.node.get(PauseSigner).execute({ ...STOP, account }, aPauseOrder());
  const goDefault = () => lab.node.get(ResumeSigner).execute({ ...STOP, account }, aPauseOrder());

  it('gets higher prices as before: others wait behind it, also those that have no nonce yet', async () => {
    const node = await lab.startNode({ execution: { maxInFlight: 1 } });
    const inTheWay = await shop(1);
    await node.step();
    const behind = await bank(2);
    await stop();
    for (let block = 0; block < 6; block += 1) {
      lab.chain.mineEmpty();
      await node.follow();
      await node.bump();
    }
    expect(await attempts(inTheWay)).toBe(2);
    await lab.mine(node);
    await node.step();
    expect(await stored(behind)).toEqual(['IN_MEMPOOL 1']);
  });

  it('does not keep what reverts of another account from its end', async () => {
    lab.chain.faults.estimate = onlyFor(2, { kind: 'reverted', reason: 'no' } as const);
    const [waits, reverts] = [await shop(1), await bank(2)];
    await stop();
    for (let look = 0; look < 4; look += 1) {
      lab.chain.mineEmpty();
      await lab.node.follow();
      await makeWaitingDue(lab.node);
      await lab.node.step();
    }
    expect(await stored(waits, reverts)).toEqual([WAITS, 'FAILED']);
  });

  it('is cancelled, and is not replaced or sped up before it goes on', async () => {
    const [cancelled, replaced, faster] = [await lab.sent(1), await lab.sent(2), await lab.sent(3)];
    await stopDefault();
    await race.cancel(cancelled);
    await race.replace(replaced, 4);
    await race.speedUp(faster);
    await lab.node.commands();
    await lab.resubmit();
    expect(await Promise.all([cancelled, replaced, faster].map(attempts))).toEqual([2, 1, 1]);
    expect(await lab.node.tx(cancelled)).toMatchObject({ subState: 'CANCELLING' });
    await goDefault();
    await lab.node.commands();
    expect(await attempts(faster)).toBe(2);
    expect((await lab.node.tx(replaced)).replacedBy).not.toBeNull();
  });

  it('is not replaced by a command that was read before the stop', async () => {
    const txId = await lab.sent(1);
    await race.replace(txId, 2);
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => {
      await stopDefault();
      return estimate(calls);
    };
    await lab.node.commands();
    expect((await lab.node.tx(txId)).replacedBy).toBeNull();
    expect(lab.chain.sent).toHaveLength(1);
  });
});

describe('a stop of an account is told', () => {
  it('to it and to operators, by the list, its txs and their explanation, and not as a pause of signers', async () => {
    const [waits, other] = [await shop(1), await bank(2)];
    const { since } = await stop();
    expect(await stop()).toMatchObject({ since });
    const list = (account: string | null, only = NO_LIMITS) => lab.node.get(SignerPauses).list(null, 9, only, account);
    expect(await list(null)).toMatchObject([{ account: SHOP, chainId: null, address: null, reason: 'stolen key' }]);
    expect(await list(SHOP.id, limitedTo([lab.node.signer()], null))).toHaveLength(1);
    expect(await list(BANK.id)).toEqual([]);
    expect(await lab.node.get(SignerPauses).of(lab.node.signer())).toBeNull();
    const [seenByShop, seenByBank] = [ofShop.sender, ofBank.sender];
    const viewOf = (txId: string, sender: typeof seenByShop) => lab.node.get(TxQueries).find(txId, sender);
    expect(await viewOf(waits, seenByShop)).toMatchObject({ subState: 'ACCOUNT_STOPPED' });
    expect(await viewOf(other, seenByBank)).toMatchObject({ subState: null });
    const explained = await lab.node.get(ExplainTx).execute(waits, seenByShop);
    expect(explained?.explanation.summary).toContain(
      `account shop is stopped since ${since.toISOString()} (stolen key)`,
    );
    expect(await query(`SELECT FROM tx_event WHERE signer IS NOT NULL`, [])).toEqual([]);
    await go();
    expect(await list(null)).toEqual([]);
    expect(await query(`SELECT action, object, detail FROM audit_entry ORDER BY seq`, [])).toMatchObject([
      { object: 'account:shop', detail: { reason: 'stolen key' } },
      { object: 'account:shop' },
      { object: 'account:shop', detail: { reason: null } },
    ]);
  });

  it('page by page, behind a stop of everything', async () => {
    await lab.node.get(PauseSigner).execute({ chainId: null, address: null }, aPauseOrder());
    for (const account of [SHOP, BANK]) await lab.node.get(PauseSigner).execute({ ...STOP, account }, aPauseOrder());
    const list = (account: string | null, limit: number) =>
      lab.node
        .get(SignerPauses)
        .list(account === null ? null : { chainId: null, address: null, account }, limit, NO_LIMITS, null);
    expect((await list(null, 2)).map(({ account }) => account?.name)).toEqual([undefined, 'bank']);
    expect((await list('bank', 2)).map(({ account }) => account?.name)).toEqual(['shop']);
    await go();
    expect((await list(null, 9)).map(({ account }) => account?.name)).toEqual([undefined, 'bank']);
    await lab.node.get(ResumeSigner).execute({ chainId: null, address: null }, aPauseOrder());
    expect((await list(null, 9)).map(({ account }) => account?.name)).toEqual(['bank']);
  });
});
