import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/domain/tx-request.js';
import { type CommandInput, SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { CommandStore, type HoldCommandKind } from '../../src/modules/commands/domain/tx-command.js';
import type { Hex } from '../../src/kernel/hex.js';
import type { ModelTx } from '../support/model-chain.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { TxsInFlight } from '../../src/modules/ledger/index.js';
import { LookAtHolds } from '../../src/modules/nonces/application/look-at-holds.js';
import { EndHolds } from '../../src/modules/nonces/application/tend-holds.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, anOrder, DEV_CHAIN } from '../support/builders.js';
import { Standby } from '../support/lost-commits.js';
import { makeDue, makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const lab = nodeLab();

/** A nonce for an outside sender. */
function hold(tag: number, expiresAt: Date | null = null): Promise<string> {
  return lab.create(tag, { hold: { ttl: null, count: 1, index: 0 }, payload: NO_PAYLOAD, expiresAt });
}

/** What the outside sender signs and sends. */
function outsideSends(nonce: bigint, data?: Hex): ModelTx {
  return lab.chain.sendForeign(lab.node.signer().address, nonce, data);
}

/** A payload with the content of what the outside sender sends in the test. */
function equalPayload(): Promise<string> {
  return lab.create(2, { payload: { ...NO_PAYLOAD, to: lab.node.signer().address, data: tagged(2) } });
}

async function expire(node = lab.node, ago: '1 second' | '1 minute' = '1 second'): Promise<void> {
  const text = `UPDATE managed_tx SET expires_at = clock_timestamp() - interval '${ago}' WHERE kind = 'hold'`;
  await node.get(Database).query({ name: `test_expire_${ago}`, text }, []);
}

/** A hold with the nonce 0, and a payload behind it. */
async function blocked(): Promise<[hold: string, payload: string]> {
  const ids: [string, string] = [await hold(1), await lab.create(2)];
  await lab.node.step();
  expect(await nonces(ids)).toEqual([0, 1]);
  return ids;
}

async function giveBack(txId: string): Promise<void> {
  await lab.node.get(SubmitCommand).execute(anOrder('release', txId));
  await lab.node.commands();
}

/** Two looks, at different blocks. */
async function lookTwice(node = lab.node): Promise<void> {
  await node.holds();
  lab.chain.mineEmpty();
  await node.follow();
  await node.holds();
}

/** The next owner, who does not wait between two looks. */
async function quickSuccessor(): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode({ confirmations: { required: 2, staleReceiptTimeout: '1ms' } });
}

async function finish(node: TestNode, txIds: readonly string[]): Promise<void> {
  await until('all are final', async () => {
    await makeWaitingDue(node);
    await node.step();
    await node.holds();
    lab.chain.mine();
    lab.chain.mineEmpty(2);
    await node.follow();
    await lab.resubmit(node);
    await node.checkReceipts();
    return (await lab.states(txIds, node)).every((state) => state === 'CONFIRMED');
  });
}

const nonces = (txIds: readonly string[], node = lab.node) =>
  Promise.all(txIds.map(async (txId) => (await node.tx(txId)).nonce));

describe('a hold', () => {
  it('gets its nonce in the one sequence, and nothing is signed or sent for it: not now, not later, not by the next owner', async () => {
    const ids = [await lab.create(1), await hold(2), await lab.create(3)];
    await lab.node.step();
    expect([await nonces(ids), await lab.states(ids)]).toEqual([
      [0, 1, 2],
      ['IN_MEMPOOL', 'ALLOCATED', 'IN_MEMPOOL'],
    ]);
    await lab.live(2);
    await makeDue(lab.node);
    const next = await lab.takeOver();
    await lab.live(2, next);
    expect(lab.chain.sent.filter(({ nonce }) => nonce === 1n)).toEqual([]);
    expect(await lab.states(ids, next)).toEqual(['CONFIRMED', 'ALLOCATED', 'IN_MEMPOOL']);
  });

  it('is ended by what its outside sender sends, which is followed like our own', async () => {
    const ids = [await hold(1), await lab.create(2)];
    await lab.node.step();
    const sent = outsideSends(0n);
    await lab.node.holds();
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', txHash: sent.hash });
    await finish(lab.node, ids);
    expect(await nonces(ids)).toEqual([0, 1]);
    expect(lab.chain.sent.filter(({ nonce }) => nonce === 0n)).toEqual([]);
  });

  it('gets no higher price when it is stuck: nothing is signed for it', async () => {
    await hold(1);
    await lab.node.step();
    outsideSends(0n);
    await lab.node.holds();
    lab.chain.mineEmpty(20);
    await lab.node.follow();
    await lab.node.bump();
    expect(lab.chain.sent).toEqual([]);
  });

  it('is ended by what was mined between two looks; a reorg brings it back with its hash', async () => {
    const id = await hold(1);
    await lab.node.step();
    const sent = outsideSends(0n);
    lab.chain.mine();
    await lab.node.follow();
    await lab.node.holds();
    await lab.checkReceipts();
    expect(await lab.node.tx(id)).toMatchObject({ state: 'MINED', txHash: sent.hash });
    lab.chain.reorg(1);
    await lab.node.follow();
    expect(await lab.node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', txHash: sent.hash });
  });

  it('never gets another nonce: when nobody names what used its own, it ends', async () => {
    lab.chain.namesUsers = false;
    const [id, other] = [await hold(1), await lab.create(2)];
    await lab.node.step();
    const next = await quickSuccessor();
    await next.step();
    outsideSends(0n);
    lab.chain.mine();
    await until('it ends', async () => {
      await next.follow();
      await next.holds();
      await lab.checkReceipts(next);
      lab.chain.mineEmpty(2);
      return (await next.tx(id)).state === 'DROPPED';
    });
    await finish(next, [other]);
    expect(await nonces([other], next)).toEqual([1]);
  });
});

describe('the holds of a signer', () => {
  const few = { execution: { inFlightStart: 8, maxInFlight: 8 } };
  const held = (node: TestNode, ids: readonly string[]) =>
    lab.states(ids, node).then((states) => states.filter((state) => state !== 'PENDING').length);

  it('have half of what it may have in flight at most, and payloads the rest, also when their senders name what never comes', async () => {
    const busy = await lab.startNode(few);
    const ids = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map((tag) => hold(tag)));
    const payloads = await Promise.all([11, 12, 13, 14].map((tag) => lab.create(tag)));
    await until('the payloads are sent', async () => {
      await busy.step();
      return (await held(busy, payloads)) === 4;
    });
    expect(await held(busy, ids)).toBe(4);
    for (const id of ids.slice(0, 4))
      await busy.get(SubmitCommand).execute(anOrder('consume', id, { txHash: aHash(7) }));
    await busy.commands();
    await makeWaitingDue(busy);
    await busy.step();
    expect(await held(busy, ids)).toBe(4);
    // One that comes makes room for the next.
    outsideSends(0n);
    lab.chain.mine();
    await busy.follow();
    await busy.holds();
    await lab.checkReceipts(busy);
    await makeWaitingDue(busy);
    await busy.step();
    expect(await held(busy, ids)).toBe(5);
  });

  it('are half of that for each account, so that one leaves room for others', async () => {
    const busy = await lab.startNode(few);
    const of = (tag: number, account: string) =>
      lab.create(tag, {
        hold: { ttl: null, count: 1, index: 0 },
        payload: NO_PAYLOAD,
        sender: { ...ANYONE, account },
      });
    const [shop, bank] = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'];
    const ofShop = await Promise.all([1, 2, 3, 4].map((tag) => of(tag, shop)));
    const ofBank = await Promise.all([5, 6, 7].map((tag) => of(tag, bank)));
    await busy.step();
    const open = await busy.get(TxsInFlight).waitingHolds(DEV_CHAIN, [busy.signer().address], 8);
    const among = (ids: readonly string[]): number => open.filter(({ tx }) => ids.includes(tx.id)).length;
    expect([among(ofShop), among(ofBank)]).toEqual([2, 2]);
  });

  it('keep every blob of it back, and what authorizes its own account, because their senders may send what no pool takes beside those', async () => {
    await hold(1);
    await lab.node.step();
    expect(await lab.node.get(TxsInFlight).kindsInFlight([lab.node.signer()])).toEqual(['plain']);
  });
});

describe('a hold that is over', () => {
  it('gives its nonce back, when two looks find nothing', async () => {
    const id = await hold(1);
    await lab.node.step();
    await expire();
    await lab.node.holds();
    expect(await lab.states([id])).toEqual(['ALLOCATED']);
    await lookTwice();
    expect(await lab.states([id])).toEqual(['CANCELLED']);
    const next = await hold(2);
    await lab.node.step();
    expect(await nonces([next])).toEqual([0]);
  });

  it('is filled when something waits behind it', async () => {
    const ids = [await hold(1), await lab.create(2)];
    await lab.node.step();
    await expire();
    await lookTwice();
    await finish(lab.node, ids.slice(1));
    expect((await lab.fills()).map(({ nonce, state }) => [nonce, state])).toEqual([[0, 'CONFIRMED']]);
  });

  it('stays while what its sender sent is in a pool, or an endpoint does not answer', async () => {
    const id = await hold(1);
    await lab.node.step();
    await expire();
    outsideSends(0n);
    await lookTwice();
    expect(await lab.states([id])).toEqual(['IN_MEMPOOL']);
    const second = await hold(2);
    await lab.node.step();
    await expire();
    await lookTwice();
    // Not the next nonce of the chain: a transaction with it would be in no count.
    expect(await lab.states([second])).toEqual(['ALLOCATED']);
  });

  it('stays while the lane of its signer has not begun', async () => {
    const id = await hold(1);
    await lab.node.step();
    await expire();
    await lab.node.releaseLeases();
    const next = await lab.startNode();
    await next.get(LeaseManager).acquireOrRenew([next.signer()]);
    await lookTwice(next);
    expect(await lab.states([id], next)).toEqual(['ALLOCATED']);
    await next.step();
    await lookTwice(next);
    expect(await lab.states([id], next)).toEqual(['CANCELLED']);
  });
});

describe('an outside sender that sends the very payload that waits here', () => {
  for (const isLate of [false, true])
    it(`has its own, and the payload is executed once for itself (seen by the next owner: ${isLate})`, async () => {
      const [id, payload] = [await hold(1), await equalPayload()];
      await lab.node.get(Database).query(ONLY_HOLDS, []);
      await lab.node.step();
      const sent = outsideSends(0n, tagged(2));
      const node = isLate ? await quickSuccessor() : lab.node;
      if (isLate) await node.step();
      await node.holds();
      expect(await node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0, txHash: sent.hash });
      await finish(node, [id, payload]);
      expect(await nonces([id, payload], node)).toEqual([0, 1]);
      expect(lab.minedWith(2).map(({ nonce }) => nonce)).toEqual([0n, 1n]);
      expect((await node.tx(payload)).txHash).not.toBe(sent.hash);
    });

  it('has its own, also when it was sent again with a higher price after it was seen', async () => {
    const [id, payload] = [await hold(1), await equalPayload()];
    await lab.node.get(Database).query(ONLY_HOLDS, []);
    await lab.node.step();
    outsideSends(0n);
    await lab.node.holds();
    const again = outsideSends(0n, tagged(2));
    await finish(lab.node, [id, payload]);
    expect(await lab.node.tx(id)).toMatchObject({ txHash: again.hash, nonce: 0 });
    expect(lab.minedWith(2).map(({ nonce }) => nonce)).toEqual([0n, 1n]);
  });

  it('has its own, also when it had given the nonce back: no payload gets it', async () => {
    const [id, payload] = [await hold(1), await equalPayload()];
    await lab.node.get(Database).query(ONLY_HOLDS, []);
    await lab.node.step();
    await giveBack(id);
    await finish(lab.node, [payload]);
    expect(await nonces([payload])).toEqual([1]);
    expect((await lab.fills()).map(({ nonce, state }) => [nonce, state])).toEqual([[0, 'CONFIRMED']]);
  });
});

describe('an outside sender that sends the payload that waits here, although it gave the nonce back', () => {
  for (const isMined of [true, false])
    it(`is somebody else: the payload is executed for itself (mined: ${isMined})`, async () => {
      const [id, payload] = [await hold(1), await equalPayload()];
      await lab.node.get(Database).query(ONLY_HOLDS, []);
      await lab.node.step();
      await giveBack(id);
      const sent = outsideSends(0n, tagged(2));
      if (isMined) lab.chain.mine();
      const next = await quickSuccessor();
      await finish(next, [payload]);
      expect(await next.tx(payload)).toMatchObject({ nonce: 1 });
      expect((await next.tx(payload)).txHash).not.toBe(sent.hash);
      expect(lab.minedWith(2).filter(({ nonce }) => nonce === 1n)).toHaveLength(1);
    });
});

describe('a nonce that was given back', () => {
  it('goes to the next hold', async () => {
    const first = await hold(1);
    await lab.node.step();
    await giveBack(first);
    const ids = [await lab.create(2), await hold(3), await hold(4)];
    await makeWaitingDue(lab.node);
    await lab.node.step();
    expect(await nonces(ids)).toEqual([1, 0, 2]);
  });

  it('goes to a no-op when something waits behind it, also while another hold waits', async () => {
    const [first, payload] = await blocked();
    const again = await hold(3);
    await giveBack(first);
    await finish(lab.node, [payload]);
    expect(await nonces([payload, again])).toEqual([1, 2]);
    expect((await lab.fills()).map(({ nonce, state }) => [nonce, state])).toEqual([[0, 'CONFIRMED']]);
  });
});

describe('a hold that is over while an endpoint is silent', () => {
  beforeEach(async () => {
    lab.chain.equalCounts = async () => [null];
  });

  it('stays, and when something waits behind it for a minute, a no-op competes for its nonce', async () => {
    const [id, payload] = await blocked();
    await expire();
    await lookTwice();
    expect(await lab.states([id])).toEqual(['ALLOCATED']);
    await expire(lab.node, '1 minute');
    await lookTwice();
    expect(await lab.states([id])).toEqual(['IN_MEMPOOL']);
    await finish(lab.node, [payload]);
    expect(await lab.states([id])).toEqual(['CANCELLED']);
    expect(await nonces([payload])).toEqual([1]);
  });

  it('ends by what its sender has sent, when that is mined before the no-op', async () => {
    const [id, payload] = await blocked();
    await expire(lab.node, '1 minute');
    await lookTwice();
    // Only the endpoint that was silent has it.
    const sent = outsideSends(0n);
    lab.chain.mine();
    await finish(lab.node, [id, payload]);
    expect(await lab.node.tx(id)).toMatchObject({ state: 'CONFIRMED', txHash: sent.hash });
    expect(await lab.fills()).toEqual([]);
  });
});

describe('a database that goes back to before a payload got the nonce of a hold', () => {
  for (const isMined of [true, false])
    it(`has the payload executed once (mined: ${isMined})`, async () => {
      const [payload, id] = [await lab.create(2), await hold(1)];
      await lab.node.get(Database).query(ONLY_HOLDS, []);
      await lab.node.step();
      const database = lab.node.get(Database);
      const standby = await Standby.of(database);
      // The other server never had the hold, so the payload got its nonce there.
      for (const text of WITHOUT_HOLDS) await database.query({ name: `test_${text}`, text }, []);
      await lab.node.releaseLeases();
      const other = await quickSuccessor();
      await makeWaitingDue(other);
      await other.step();
      expect(await nonces([payload], other)).toEqual([0]);
      if (isMined) lab.chain.mine();
      await other.releaseLeases();
      await standby.promote(true);
      const next = await quickSuccessor();
      expect(await lab.states([id, payload], next)).toEqual(['ALLOCATED', 'PENDING']);
      await finish(next, [payload]);
      expect(await nonces([payload], next)).toEqual([0]);
      expect(lab.minedWith(2)).toHaveLength(1);
      expect(await lab.states([id], next)).toEqual(['CANCELLED']);
    });
});

describe('a database that lost that a hold was given back', () => {
  for (const isNoticed of [true, false])
    it(`has the payload executed once, which got another nonce (noticed: ${isNoticed})`, async () => {
      const [id, payload] = [await hold(1), await lab.create(2)];
      await lab.node.get(Database).query(ONLY_HOLDS, []);
      await lab.node.step();
      const standby = await Standby.of(lab.node.get(Database));
      await giveBack(id);
      await makeWaitingDue(lab.node);
      await lab.node.step();
      expect(await nonces([payload])).toEqual([1]);
      await lab.node.releaseLeases();
      await standby.promote(isNoticed);
      const next = await quickSuccessor();
      await finish(next, [payload]);
      expect(await nonces([payload], next)).toEqual([1]);
      expect(lab.minedWith(2)).toHaveLength(1);
    });
});

describe('what an outside sender says about its hold', () => {
  /** Stored at a node, and not carried out yet. */
  const say = (kind: HoldCommandKind, txId: string, more: Partial<CommandInput> = {}, node = lab.node) =>
    node.get(SubmitCommand).execute(anOrder(kind, txId, more));
  const said = async (...order: Parameters<typeof say>): Promise<string> => {
    const { command } = await say(...order);
    await (order[3] ?? lab.node).commands();
    return (await lab.node.get(CommandStore).get(command.commandId))?.status ?? 'gone';
  };

  it('consume, of a hash that nobody knows: it is not over any more, and nothing is final by it', async () => {
    const [id, behind] = [await hold(1), await lab.create(2)];
    await lab.node.step();
    await expire();
    expect(await said('consume', id, { txHash: aHash(7) })).toBe('DONE');
    for (let round = 0; round < 3; round += 1) await lookTwice();
    await lab.live(2);
    expect(await lab.node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0, txHash: aHash(7) });
    expect(await lab.states([behind])).toEqual(['IN_MEMPOOL']);
    // What is mined is another one of the same sender: it decides.
    const sent = outsideSends(0n);
    await finish(lab.node, [id, behind]);
    expect(await lab.node.tx(id)).toMatchObject({ txHash: sent.hash });
  });

  it.each(['consume', 'extend'] as const)(
    '%s, which its owner has not carried out yet: it is not over',
    async (kind) => {
      const id = await hold(1);
      await lab.node.step();
      await expire();
      await say(kind, id, kind === 'consume' ? { txHash: aHash(7) } : { ttl: 600 });
      for (let round = 0; round < 2; round += 1) await lookTwice();
      expect(await lab.states([id])).toEqual(['ALLOCATED']);
    },
  );

  it('extend: it is over later, never sooner', async () => {
    const id = await hold(1, new Date(Date.now() + 3_600_000));
    await lab.node.step();
    const endOf = async () => (await lab.node.tx(id)).expiresAt;
    const before = await endOf();
    expect(await said('extend', id, { ttl: 60 })).toBe('DONE');
    expect(await endOf()).toBe(before);
    await expire();
    expect(await said('extend', id, { ttl: 600 })).toBe('DONE');
    await lookTwice();
    expect(await lab.states([id])).toEqual(['ALLOCATED']);
    await expire();
    await lookTwice();
    expect(await lab.states([id])).toEqual(['CANCELLED']);
  });

  it('extend, again and again: a day after it was reserved it is over, and the word is refused at the door', async () => {
    const id = await hold(1, new Date(Date.now() + 60_000));
    await lab.node.step();
    const old = `UPDATE managed_tx SET created_at = clock_timestamp() - interval '1 day', expires_at = clock_timestamp()`;
    await lab.node.get(Database).query({ name: 'test_old', text: old }, []);
    await expect(say('extend', id, { ttl: 600 })).rejects.toMatchObject({ code: 'hold_too_old' });
    await lookTwice();
    await lab.node.holds();
    expect(await lab.states([id])).toEqual(['CANCELLED']);
  });

  it.each(['consume', 'extend'] as const)(
    '%s, that is stored between a look that found it over and the end of it: it stays',
    async (kind) => {
      const id = await hold(1);
      await lab.node.step();
      await expire();
      await lab.node.holds();
      lab.chain.mineEmpty();
      await lab.node.follow();
      const holds = await lab.node.get(TxsInFlight).waitingHolds(DEV_CHAIN, [lab.node.signer().address], 1);
      const verdicts = await lab.node.get(LookAtHolds).execute(DEV_CHAIN, holds);
      expect(verdicts).toMatchObject([{ kind: 'unused' }]);
      await say(kind, id, kind === 'consume' ? { txHash: aHash(7) } : { ttl: 600 });
      const lease = lab.node.get(LeaseManager).heldOn(DEV_CHAIN);
      await lab.node.get(EndHolds).execute(lease, verdicts);
      expect(await lab.states([id])).toEqual(['ALLOCATED']);
      await lab.node.commands();
      expect(await lab.states([id])).toEqual([kind === 'consume' ? 'IN_MEMPOOL' : 'ALLOCATED']);
    },
  );

  it('release: at once when nothing is out, again without harm, and never when something was sent or named', async () => {
    const ids = [await hold(1), await hold(2), await hold(3)];
    const [first = '', second = '', third = ''] = ids;
    await lab.node.step();
    expect([await said('release', third), await said('release', third)]).toEqual(['DONE', 'DONE']);
    await said('consume', second, { txHash: aHash(7) });
    outsideSends(0n);
    await lab.node.holds();
    for (const id of [first, second]) await expect(say('release', id)).rejects.toMatchObject({ code: 'already_used' });
    await expect(say('consume', third, { txHash: aHash(7) })).rejects.toMatchObject({ code: 'already_final' });
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'CANCELLED']);
  });

  it('release, while a consume waits for its owner: it is refused', async () => {
    const id = await hold(1);
    await lab.node.step();
    await say('consume', id, { txHash: aHash(7) });
    await expect(say('release', id)).rejects.toMatchObject({ code: 'already_used' });
    await lab.node.commands();
    expect(await lab.states([id])).toEqual(['IN_MEMPOOL']);
  });

  it('consume, while a release waits for its owner: what may be out is not given back', async () => {
    const id = await hold(1);
    await lab.node.step();
    const { command } = await say('release', id);
    await say('consume', id, { txHash: aHash(7) });
    for (let round = 0; round < 2; round += 1) await lab.node.commands();
    expect(await lab.node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', txHash: aHash(7) });
    expect((await lab.node.get(CommandStore).get(command.commandId))?.status).toBe('REFUSED');
  });

  it('release, that comes after its sender has sent: it is refused by the owner, too', async () => {
    const id = await hold(1);
    await lab.node.step();
    await say('release', id);
    outsideSends(0n);
    await lab.node.holds();
    await lab.node.commands();
    expect(await lab.states([id])).toEqual(['IN_MEMPOOL']);
  });

  it('consume, before the database lost commits: the hash is its own, and the equal payload is executed for itself', async () => {
    const [id, payload] = [await hold(1), await equalPayload()];
    await lab.node.get(Database).query(ONLY_HOLDS, []);
    await lab.node.step();
    const sent = outsideSends(0n, tagged(2));
    await say('consume', id, { txHash: sent.hash });
    const standby = await Standby.of(lab.node.get(Database));
    await lab.node.releaseLeases();
    await standby.promote(true);
    const next = await quickSuccessor();
    await next.step();
    await next.commands();
    await finish(next, [id, payload]);
    expect(await next.tx(id)).toMatchObject({ txHash: sent.hash, nonce: 0 });
    expect(await nonces([payload], next)).toEqual([1]);
    expect(lab.minedWith(2)).toHaveLength(2);
  });
});

describe('a hold that an operator closes', () => {
  const HASH = aHash(7);
  const say = async (kind: 'consume' | 'close', txId: string, more: Partial<CommandInput> = {}) => {
    await lab.node.get(SubmitCommand).execute(anOrder(kind, txId, more));
    await lab.node.commands();
  };
  /** With a hash that never comes, and a payload behind it. */
  async function stuck(): Promise<[hold: string, payload: string]> {
    const ids: [string, string] = [await hold(1), await lab.create(2)];
    await lab.node.step();
    await say('consume', ids[0], { txHash: HASH });
    return ids;
  }
  const noOps = (): ModelTx[] => lab.chain.sent.filter(({ nonce }) => nonce === 0n);

  it('is blocked for ever by a hash that never comes; then a no-op uses its nonce, and what waits behind it goes on', async () => {
    const [id, behind] = await stuck();
    await lab.live(3);
    expect(await lab.states([id, behind])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    await say('close', id);
    expect(await lab.node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING', nonce: 0 });
    await finish(lab.node, [behind]);
    expect(noOps()).toHaveLength(1);
    expect(noOps()[0]).toMatchObject({ data: '0x' });
    expect(await lab.node.tx(id)).toMatchObject({ state: 'CANCELLED', txHash: noOps()[0]?.hash });
    expect(await lab.fills()).toEqual([]);
  });

  it('ends by what its sender sent all the same, when that is mined and not the no-op', async () => {
    const [id, behind] = await stuck();
    await say('close', id);
    await lab.resubmit();
    expect(noOps()).toHaveLength(1);
    // It replaces the no-op in the pool.
    const sent = outsideSends(0n);
    await finish(lab.node, [id, behind]);
    expect(await lab.node.tx(id)).toMatchObject({ state: 'CONFIRMED', txHash: sent.hash });
    expect(await nonces([id, behind])).toEqual([0, 1]);
  });

  it('is outbid by the no-op, also when it is seen only then; the sender’s bytes are never sent by us', async () => {
    const [id, behind] = await stuck();
    const sent = outsideSends(0n);
    await lab.node.holds();
    lab.chain.dropPool();
    await say('close', id);
    await lab.node.holds();
    await finish(lab.node, [behind]);
    expect(noOps().map(({ hash }) => hash)).not.toContain(sent.hash);
    expect((await lab.node.tx(id)).state).toBe('CANCELLED');
  });

  it('that was private, and whose sender left, is closed, too; a reorg lets the no-op compete again', async () => {
    const [id, behind] = [await hold(1), await lab.create(2)];
    await lab.node.step();
    await say('close', id);
    await lab.resubmit();
    await lab.mine();
    expect((await lab.node.tx(id)).state).toBe('MINED');
    lab.chain.reorg(1);
    await lab.node.follow();
    expect(await lab.node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', txHash: noOps()[0]?.hash });
    await finish(lab.node, [behind]);
    expect(new Set(noOps().map(({ hash }) => hash)).size).toBe(1);
    expect((await lab.node.tx(id)).state).toBe('CANCELLED');
  });

  it('is closed by the next owner, when the first one dies before it signs; the same bytes go out after one that dies after it', async () => {
    const [id, behind] = await stuck();
    await say('close', id);
    const next = await quickSuccessor();
    await next.step();
    await lab.resubmit(next);
    const [first] = noOps();
    lab.chain.dropPool();
    await next.releaseLeases();
    const last = await lab.startNode();
    await finish(last, [behind]);
    expect(new Set(noOps().map(({ hash }) => hash))).toEqual(new Set([first?.hash]));
    expect((await last.tx(id)).state).toBe('CANCELLED');
  });

  it('is closed by the next owner, too, and holds no lane back, when pools hide what its sender sent', async () => {
    const id = await hold(1);
    await lab.node.step();
    lab.chain.showsPool = false;
    outsideSends(0n);
    const next = await quickSuccessor();
    const behind = await lab.create(2);
    await next.step();
    expect(await lab.states([id, behind], next)).toEqual(['ALLOCATED', 'IN_MEMPOOL']);
    await next.get(SubmitCommand).execute(anOrder('close', id));
    await next.commands();
    await lab.resubmit(next);
    expect(await next.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', txHash: noOps()[0]?.hash });
    await finish(next, [behind]);
    expect((await next.tx(id)).state).toBe('CANCELLED');
  });

  it('gets a higher price, when its no-op is stuck', async () => {
    const [id] = await stuck();
    await say('close', id);
    await lab.resubmit();
    lab.chain.mineEmpty(20);
    await lab.node.follow();
    await lab.node.bump();
    expect(noOps().map(({ data }) => data)).toEqual(['0x', '0x']);
    expect((await lab.node.tx(id)).txHash).toBe(noOps()[1]?.hash);
  });

  for (const isNoticed of [true, false])
    it(`keeps the nonce for the no-op, whose commit the database lost (noticed: ${isNoticed})`, async () => {
      const [id, behind] = await stuck();
      await say('close', id);
      const standby = await Standby.of(lab.node.get(Database));
      await lab.resubmit();
      await lab.node.releaseLeases();
      await standby.promote(isNoticed);
      const next = await quickSuccessor();
      await finish(next, [behind]);
      expect(await next.tx(id)).toMatchObject({ state: 'CANCELLED', nonce: 0 });
      expect(lab.minedWith(2)).toHaveLength(1);
    });
});

const WITHOUT_HOLDS = [
  `DELETE FROM signer_nonce_allocation`,
  `DELETE FROM managed_tx WHERE kind = 'hold'`,
  `UPDATE signer_nonce_cursor SET next_nonce = 0`,
];

/** Payloads wait a while. */
const ONLY_HOLDS = {
  name: 'test_only_holds',
  text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() + interval '1 hour' WHERE state = 'PENDING' AND kind = 'payload'`,
};
