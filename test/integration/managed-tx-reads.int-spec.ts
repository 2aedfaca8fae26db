import { beforeEach, describe, expect, it } from '@jest/globals';
import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import type { WaitingQueue } from '../../src/modules/ledger/index.js';
import { aHash, aManagedTx, aSigner, DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { PgFundsRepository } from '../../src/modules/ledger/infrastructure/pg-funds.repository.js';
import { PgManagedTxRepository } from '../../src/modules/ledger/infrastructure/pg-managed-tx.repository.js';
import { PgTxQueue } from '../../src/modules/ledger/infrastructure/pg-tx-queue.js';
import { PgTxWriter } from '../../src/modules/ledger/infrastructure/pg-tx-writer.js';
import { NO_POLICIES } from '../support/fakes/no-policies.js';
import { PgTxsInFlight } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';

const stored = await storedRows();
const funds = new PgFundsRepository(stored.node.database);
const txs = new PgManagedTxRepository(stored.node.database);
const queue = new PgTxQueue(stored.node.database, new Named('first'));
const writer = new PgTxWriter(NO_POLICIES);
const inFlight = new PgTxsInFlight(stored.node.database);

const OURS = aSigner(1);
const OTHER = aSigner(2);
/** The same address on another chain. */
const ELSEWHERE: SignerId = { ...OURS, chainId: 7 };
const IN_FLIGHT = ['ALLOCATED', 'IN_MEMPOOL'];
const PAST = `now() - interval '1 minute'`;
const FUTURE = `now() + interval '1 minute'`;

const ofOther = { signer: OTHER.address };
const elsewhere = { chain_id: ELSEWHERE.chainId };
const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);
const at = (signer: typeof OURS, nonce: bigint) => ({ signer, nonce });
/** What the client of a tx, or the outside sender of a hold, said. */
const putCommand = (n: number, kind: string, status: string): Promise<void> =>
  stored.put('tx_command', {
    command_id: txIdOf(900 + n),
    chain_id: DEV_CHAIN,
    signer: OURS.address,
    tx_id: txIdOf(n),
    kind,
    request_id: `command-${n}`,
    request_hash: aHash(n),
    status,
  });
/** Of the tx with that number, at the nonce of it. */
const putAttempt = (n: number, status: string): Promise<void> =>
  stored.put('tx_attempt', {
    tx_hash: aHash(n),
    chain_id: DEV_CHAIN,
    signer: OURS.address,
    nonce: n,
    tx_id: txIdOf(n),
    kind: 'payload',
    raw: '\\x',
    gas_limit: 100,
    max_fee_per_gas: 1,
    max_priority_fee_per_gas: 0,
    fencing_token: 1,
    status,
  });
const ids = (...numbers: readonly number[]): string[] => numbers.map(txIdOf);

/** One tx of ours in each state, and one of each of somebody else and of another chain; ids from 1, 101 and 201. */
async function everyState(): Promise<void> {
  const states = ['PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED', 'FAILED'];
  for (const [i, state] of states.entries()) {
    await stored.putTx(i + 1, { state });
    await stored.putTx(i + 101, { state, ...ofOther });
    await stored.putTx(i + 201, { state, ...elsewhere });
  }
}

describe('what waits', () => {
  const ACCOUNT = '01900000-0000-7000-8000-00000000acc0';
  const of = (signer: SignerId, upTo = 100): WaitingQueue => ({ signer, account: null, upTo });
  const ofAccount = (account: string, upTo = 100): WaitingQueue => ({ signer: null, account, upTo });
  beforeEach(everyState);

  it('is counted of signers and of accounts, in the order asked and up to the number asked', async () => {
    await stored.put('account', { account_id: ACCOUNT, name: 'shop' });
    for (const n of [7, 8, 9]) await stored.putTx(n, { state: 'PENDING', account_id: ACCOUNT });
    await stored.putTx(10, { state: 'ALLOCATED', account_id: ACCOUNT });
    await stored.putTx(207, { state: 'PENDING', account_id: ACCOUNT, ...elsewhere });
    const asked = [ofAccount(ACCOUNT), of(OTHER), of(OURS), of(aSigner(9)), ofAccount(txIdOf(1)), of(ELSEWHERE)];
    expect(await queue.countWaiting(asked)).toEqual([4, 1, 4, 0, 0, 2]);
    expect(await queue.countWaiting([ofAccount(ACCOUNT, 2), of(OURS, 3)])).toEqual([2, 3]);
  });
});

describe('what is in flight', () => {
  beforeEach(everyState);

  it('is counted of each signer in the order asked, without what waits, was mined or has ended', async () => {
    await stored.putTx(7, { state: 'IN_MEMPOOL' });
    expect(await queue.countInFlight([OTHER, OURS, aSigner(9), ELSEWHERE], 100)).toEqual([2, 3, 0, 2]);
  });

  it('is counted up to the number asked', async () => {
    await stored.putTx(7, { state: 'IN_MEMPOOL' });
    expect(await queue.countInFlight([OURS], 2)).toEqual([2]);
  });

  it('is counted below a nonce by slots, without what was mined, for each in the order asked', async () => {
    await stored.putTx(7, { state: 'IN_MEMPOOL', nonce: 9 });
    await stored.putTx(8, { state: 'IN_MEMPOOL', nonce: 9, replaces: txIdOf(7) });
    const around = await inFlight.inFlightAround([at(OURS, 10n), at(aSigner(9), 10n), at(OURS, 9n), at(OURS, 3n)]);
    expect(around.map(({ below }) => below)).toEqual([3, 0, 2, 1]);
  });

  it('is one slot while two txs compete for it, and none after one of them was mined', async () => {
    const rests = { sub_state: 'REPLACING' };
    await stored.putTx(7, { state: 'IN_MEMPOOL', nonce: 9, replaced_by: txIdOf(8), ...rests });
    await stored.putTx(8, { state: 'IN_MEMPOOL', nonce: 9, replaces: txIdOf(7) });
    await stored.putTx(17, { state: 'MINED', nonce: 8, replaced_by: txIdOf(18) });
    await stored.putTx(18, { state: 'IN_MEMPOOL', nonce: 8, replaces: txIdOf(17), ...rests });
    expect(await queue.countInFlight([OURS], 100)).toEqual([3]);
    expect(await inFlight.inFlightAround([at(OURS, 10n)])).toMatchObject([{ below: 3 }]);
  });

  it('passes a nonce only in the mempool, and not when a pool refused it, too', async () => {
    await stored.putTx(9, { state: 'ALLOCATED', nonce: 20 });
    await stored.putTx(10, { state: 'IN_MEMPOOL', nonce: 30, sub_state: 'POOL_LIMIT' });
    const isPassed = async (nonce: bigint) => (await inFlight.inFlightAround([at(OURS, nonce)]))[0]?.isPassed;
    expect([await isPassed(2n), await isPassed(3n)]).toEqual([true, false]);
    await stored.putTx(11, { state: 'IN_MEMPOOL', nonce: 31, sub_state: 'STALE' });
    expect([await isPassed(30n), await isPassed(31n)]).toEqual([true, false]);
  });

  it('and waits for a pool is found by signer, the lowest nonces first, as many as asked', async () => {
    const waits = { sub_state: 'POOL_LIMIT' };
    await stored.putTx(10, { state: 'ALLOCATED', nonce: 12, ...waits });
    await stored.putTx(11, { state: 'IN_MEMPOOL', nonce: 11, ...waits });
    await stored.putTx(12, { state: 'ALLOCATED', nonce: 13, ...waits });
    await stored.putTx(13, { state: 'PENDING', nonce: null, ...waits });
    await stored.putTx(113, { state: 'ALLOCATED', nonce: 14, ...waits, ...ofOther });
    expect(idsOf(await inFlight.waitingForPool([{ signer: OURS, room: 2 }]))).toEqual(ids(11, 10));
    const both = [OTHER, OURS].map((signer) => ({ signer, room: 9 }));
    expect(new Set(idsOf(await inFlight.waitingForPool(both)))).toEqual(new Set(ids(11, 10, 12, 113)));
  });

  it('is found ALLOCATED, of the signers asked only, in the order of nonces', async () => {
    await stored.putTx(8, { state: 'ALLOCATED', nonce: 9 });
    await stored.putTx(9, { state: 'ALLOCATED', nonce: 0 });
    const found = await inFlight.allocated([OURS]);
    expect(found.map(({ tx }) => tx.id)).toEqual(ids(9, 2, 8));
  });

  it('is not sent for the first time after its end, nor when it is cancelled', async () => {
    const at = (nonce: number, more = {}) =>
      stored.putTx(nonce, { state: 'ALLOCATED', nonce, sub_state: 'POOL_LIMIT', next_resubmit_at: 'now()', ...more });
    const over = { expires_at: 'now()' };
    await at(10, over);
    await at(11);
    await putCommand(11, 'cancel', 'QUEUED');
    await at(12, over);
    await putAttempt(12, 'UNSENT');
    await at(13, over);
    await putAttempt(13, 'SIGNED');
    await at(14, { expires_at: `now() + interval '1 hour'` });
    await at(15);
    await putCommand(15, 'cancel', 'DONE');
    await at(16);
    await putCommand(16, 'speed_up', 'QUEUED');
    const left = ids(13, 14, 15, 16);
    expect((await inFlight.allocated([OURS])).map(({ tx }) => tx.id)).toEqual([txIdOf(2), ...left]);
    expect(idsOf(await inFlight.dueForResubmit(DEV_CHAIN, [OURS.address], 10)).sort()).toEqual(left);
    expect(idsOf(await inFlight.waitingForPool([{ signer: OURS, room: 9 }]))).toEqual(left);
  });

  it('may take its value, and its gas at the dearest price that was sent, from the balance', async () => {
    const attempt = {
      chain_id: DEV_CHAIN,
      signer: OURS.address,
      nonce: 2,
      kind: 'payload',
      raw: '\\x',
      gas_limit: 100,
    };
    await stored.read(`UPDATE managed_tx SET gas_limit = 100 WHERE state IN ('ALLOCATED', 'IN_MEMPOOL')`);
    const put = (n: number, price: number, more: object): Promise<void> =>
      stored.put('tx_attempt', {
        ...attempt,
        tx_id: txIdOf(2),
        tx_hash: aHash(n),
        max_fee_per_gas: price,
        max_priority_fee_per_gas: 0,
        fencing_token: 1,
        ...more,
      });
    await put(0xa1, 10, { status: 'ACCEPTED' });
    await put(0xa2, 20, { status: 'SIGNED' });
    await put(0xa3, 1000, { status: 'UNSENT' });
    // Refused in words, which is no proof that it is not out.
    await put(0xa7, 30, { status: 'REJECTED' });
    await put(0xa4, 500, { status: 'ACCEPTED', signer: OTHER.address });
    await put(0xa5, 600, { status: 'ACCEPTED', chain_id: 7 });
    await put(0xa6, 700, { status: 'ACCEPTED', nonce: 4 });
    // Values are 2 and 3; the second has no attempt yet.
    expect(await funds.committedWei([aSigner(9), OURS])).toEqual([0n, 2n + 100n * 30n + 3n]);
    // Nodes wanted more gas, and the tx was signed again with it.
    await put(0xa8, 25, { status: 'SIGNED', gas_limit: 200 });
    expect(await funds.committedWei([OURS])).toEqual([2n + 200n * 25n + 3n]);
  });

  it('has the blobs of each tx at the price of its dearest attempt; a no-op without blobs of its own has one', async () => {
    const blobs = JSON.stringify({ speed: 'fast', blobHashes: [aHash(1), aHash(2), aHash(3)] });
    await stored.putTx(31, { state: 'IN_MEMPOOL', nonce: 31, value: 5, gas_limit: 10, options: blobs });
    await stored.putTx(32, { state: 'IN_MEMPOOL', nonce: 32, value: 0, gas_limit: 10 });
    const put = (n: number, nonce: number, gas: number, blob: number): Promise<void> =>
      stored.put('tx_attempt', {
        ...{ chain_id: DEV_CHAIN, signer: OURS.address, nonce, kind: 'payload', raw: '\\x', gas_limit: 10 },
        ...{
          tx_id: txIdOf(nonce),
          tx_hash: aHash(n),
          max_fee_per_gas: gas,
          max_priority_fee_per_gas: 0,
          max_fee_per_blob_gas: blob,
        },
        ...{ tx_type: 3, status: 'ACCEPTED', fencing_token: 1 },
      });
    await put(0xb1, 31, 2, 7);
    await put(0xb2, 31, 4, 14);
    await put(0xb3, 32, 1, 1);
    expect(await funds.committedWei([OURS])).toEqual([2n + 3n + 5n + 40n + 3n * 131_072n * 14n + 10n + 131_072n]);
  });

  it('has one tx of each slot: of two that compete, the one that costs more, and none after one was mined', async () => {
    const rivals = (state: string, nonce: number, low: number) => [
      stored.putTx(low, { state: 'IN_MEMPOOL', nonce, value: 70, gas_limit: 1, replaced_by: txIdOf(low + 1) }),
      stored.putTx(low + 1, { state, nonce, value: 50, gas_limit: 1, replaces: txIdOf(low) }),
    ];
    await Promise.all(rivals('IN_MEMPOOL', 13, 11));
    expect(await funds.committedWei([OURS])).toEqual([2n + 3n + 70n]);
    await Promise.all(rivals('MINED', 14, 21));
    expect(await funds.committedWei([OURS])).toEqual([2n + 3n + 70n]);
  });
});

describe('the lowest unmined txs', () => {
  const putAttempt = (n: number, hash: number, more: object = {}): Promise<void> =>
    stored.put('tx_attempt', {
      chain_id: DEV_CHAIN,
      signer: OURS.address,
      nonce: n,
      kind: 'payload',
      raw: '\\x',
      gas_limit: 100,
      tx_id: txIdOf(n),
      tx_hash: aHash(hash),
      max_fee_per_gas: 1,
      max_priority_fee_per_gas: 0,
      fencing_token: 1,
      status: 'ACCEPTED',
      ...more,
    });
  const lowest = async (perSigner: number, ...signers: readonly SignerId[]) =>
    (await inFlight.lowestUnmined(signers, perSigner)).map(({ tx }) => tx.id);

  it('are those with a nonce and without a block, by nonce, so many of each signer that is asked for', async () => {
    await everyState();
    await stored.putTx(8, { state: 'IN_MEMPOOL', nonce: 0 });
    expect(await lowest(9, OURS)).toEqual(ids(8, 2, 3));
    expect(await lowest(2, OURS, ELSEWHERE)).toEqual(ids(202, 203, 8, 2));
    expect(await lowest(9)).toEqual([]);
  });

  it('leave out a tx that a replacement competes with', async () => {
    await stored.putTx(2, { state: 'IN_MEMPOOL', replaced_by: txIdOf(3) });
    await stored.putTx(3, { state: 'IN_MEMPOOL', nonce: 2, replaces: txIdOf(2) });
    expect(await lowest(9, OURS)).toEqual(ids(3));
  });

  it('leave out a replacement that rests because its original is mined', async () => {
    await stored.putTx(2, { state: 'MINED' });
    await stored.putTx(3, { state: 'IN_MEMPOOL', nonce: 2, replaces: txIdOf(2), sub_state: 'REPLACING' });
    await stored.putTx(4, { state: 'IN_MEMPOOL' });
    expect(await lowest(9, OURS)).toEqual(ids(4));
  });

  it('come with their own newest attempt, and without one before they are signed', async () => {
    await stored.putTx(2, { state: 'IN_MEMPOOL' });
    await stored.putTx(3, { state: 'ALLOCATED' });
    await putAttempt(2, 0xa2, { created_at: `now() - interval '1 minute'`, priced_at_block: 17, kind: 'cancel' });
    await putAttempt(2, 0xa1, { created_at: `now() - interval '1 hour'`, priced_at_block: 11 });
    await putAttempt(2, 0xa3, { created_at: `now() - interval '2 minutes'`, priced_at_block: 13 });
    await putAttempt(2, 0xa4, { tx_id: txIdOf(9) });
    const newest = (await inFlight.lowestUnmined([OURS], 9)).map((found) => found.newest);
    expect(newest).toEqual([{ kind: 'cancel', pricedAtBlock: 17, errorClass: null }, null]);
  });

  it('say of the attempt what it was refused with, also where its block is not known', async () => {
    await stored.putTx(2, { state: 'IN_MEMPOOL' });
    await putAttempt(2, 0xa1, { error_class: 'underpriced' });
    const newest = (await inFlight.lowestUnmined([OURS], 9)).map((found) => found.newest);
    expect(newest).toEqual([{ kind: 'payload', pricedAtBlock: null, errorClass: 'underpriced' }]);
  });
});

describe('the oldest tx without a block', () => {
  const oldest = async (...besides: readonly string[]): Promise<string | undefined> =>
    (await queue.oldestUnmined([OURS], besides)).get(signerKey(OURS));

  it.each(IN_FLIGHT)('is the one of the lowest id that is %s, whoever has the lowest nonce', async (state) => {
    await stored.putTx(3, { state, nonce: 9 });
    await stored.putTx(5, { state, nonce: 1 });
    await stored.putTx(1, { state, ...ofOther });
    await stored.putTx(2, { state, ...elsewhere });
    expect(await oldest()).toBe(txIdOf(3));
  });

  it('may wait, but not for an estimate that reverts, now or before', async () => {
    await stored.putTx(1, { sub_state: 'SIMULATION_REVERTED' });
    await stored.putTx(2);
    await stored.putTx(3, { sub_state: 'INSUFFICIENT_FUNDS' });
    await stored.putTx(4, { state: 'MINED' });
    await stored.putTx(5, { state: 'ALLOCATED' });
    expect(await oldest()).toBe(txIdOf(2));
    expect(await oldest(txIdOf(2))).toBe(txIdOf(3));
    expect(await oldest(txIdOf(2), txIdOf(3))).toBe(txIdOf(5));
  });

  it.each(IN_FLIGHT)('is not a fill, which no estimate waits for, that is %s', async (state) => {
    await stored.putTx(1, { state, kind: 'fill' });
    expect(await oldest()).toBeUndefined();
    await stored.putTx(2, { state });
    expect(await oldest()).toBe(txIdOf(2));
  });

  it('is none where everything was mined', async () => {
    await stored.putTx(1, { state: 'MINED' });
    expect(await oldest()).toBeUndefined();
  });
});

describe('what is due', () => {
  const due = { next_resubmit_at: PAST, next_receipt_check_at: PAST };

  it('to be sent again is in flight, of the signers asked, and its timer has run out: the longest due first', async () => {
    await everyState();
    await stored.read(`UPDATE managed_tx SET next_resubmit_at = ${PAST}`);
    await stored.putTx(7, { state: 'IN_MEMPOOL', next_resubmit_at: `now() - interval '2 minutes'` });
    await stored.putTx(8, { state: 'IN_MEMPOOL', next_resubmit_at: FUTURE });
    await stored.putTx(9, { state: 'IN_MEMPOOL' });
    expect(idsOf(await inFlight.dueForResubmit(DEV_CHAIN, [OURS.address], 10))).toEqual(ids(7, 2, 3));
    expect(idsOf(await inFlight.dueForResubmit(DEV_CHAIN, [OURS.address], 1))).toEqual(ids(7));
  });

  it('to be sent again at the same time goes by nonce', async () => {
    await stored.putTx(1, { state: 'IN_MEMPOOL', nonce: 5, next_resubmit_at: `'2026-01-01'` });
    await stored.putTx(2, { state: 'IN_MEMPOOL', nonce: 4, next_resubmit_at: `'2026-01-01'` });
    expect(idsOf(await inFlight.dueForResubmit(DEV_CHAIN, [OURS.address], 10))).toEqual(ids(2, 1));
  });

  it('for a look at its receipt is in the mempool, of the signers asked: the longest due first', async () => {
    await everyState();
    await stored.read(`UPDATE managed_tx SET next_receipt_check_at = ${PAST}`);
    await stored.putTx(7, { state: 'IN_MEMPOOL', ...due, next_receipt_check_at: `now() - interval '2 minutes'` });
    await stored.putTx(8, { state: 'IN_MEMPOOL', ...due, next_receipt_check_at: FUTURE });
    expect(idsOf(await inFlight.dueForReceiptCheck(DEV_CHAIN, [OURS.address], 10))).toEqual(ids(7, 3));
    expect(idsOf(await inFlight.dueForReceiptCheck(DEV_CHAIN, [OURS.address], 1))).toEqual(ids(7));
  });

  it('of an outside sender has its nonce and is not mined, of the signer and the account of a hold that waits', async () => {
    const [shop, bank] = [txIdOf(801), txIdOf(802)];
    const open = { kind: 'hold', state: 'ALLOCATED', account_id: shop };
    await stored.putTx(1, open);
    await stored.putTx(2, { ...open, state: 'IN_MEMPOOL' });
    await stored.putTx(3, { ...open, account_id: bank });
    await stored.putTx(4, { ...open, signer: OTHER.address });
    await stored.putTx(5, { ...open, state: 'MINED' });
    await stored.putTx(6, { state: 'ALLOCATED', account_id: shop });
    await stored.putTx(7, { ...open, chain_id: 9 });
    for (const [n, row] of [
      [11, { account_id: shop }],
      [12, { account_id: bank }],
      [13, { account_id: bank, signer: OTHER.address }],
      [14, { account_id: txIdOf(803) }],
    ] as const)
      await stored.putTx(n, { kind: 'hold', state: 'PENDING', ...row });
    const waiting = [11, 12, 14].map((n) => aManagedTx({ txId: txIdOf(n), signer: OURS }).build());
    const ofOther = aManagedTx({ txId: txIdOf(13), signer: OTHER }).build();
    const found = await stored.fenced([OURS, OTHER], (fence) => inFlight.openHolds(fence, [...waiting, ofOther]));
    expect(new Map(found.map(({ txId, ...counts }) => [txId, counts]))).toEqual(
      new Map([
        [txIdOf(11), { account: shop, ofSigner: 3, ofAccount: 2 }],
        [txIdOf(12), { account: bank, ofSigner: 3, ofAccount: 1 }],
        [txIdOf(14), { account: txIdOf(803), ofSigner: 3, ofAccount: 0 }],
        [txIdOf(13), { account: bank, ofSigner: 1, ofAccount: 0 }],
      ]),
    );
  });

  it('for a look at a hold has its nonce, the lowest first, and nothing was seen of it; it is over when its end has passed', async () => {
    const held = { kind: 'hold', state: 'ALLOCATED' };
    await everyState();
    await stored.putTx(11, { ...held, expires_at: PAST });
    await stored.putTx(12, { ...held, expires_at: FUTURE });
    await stored.putTx(13, { ...held });
    await stored.putTx(14, { ...held, state: 'IN_MEMPOOL', expires_at: PAST });
    await stored.putTx(15, { kind: 'hold', state: 'PENDING', expires_at: PAST });
    await stored.putTx(16, { ...held, state: 'IN_MEMPOOL', expires_at: PAST });
    await stored.put('tx_attempt', {
      chain_id: DEV_CHAIN,
      signer: OURS.address,
      nonce: 14,
      tx_id: txIdOf(14),
      tx_hash: aHash(14),
      kind: 'payload',
      raw: '\\x',
      gas_limit: 1,
      max_fee_per_gas: 1,
      max_priority_fee_per_gas: 0,
      status: 'SIGNED',
      fencing_token: 1,
    });
    const say = async (n: number, kind: string, status: string): Promise<void> => {
      await stored.putTx(n, { ...held, expires_at: PAST });
      await putCommand(n, kind, status);
    };
    await say(20, 'consume', 'QUEUED');
    await say(21, 'extend', 'QUEUED');
    await say(22, 'extend', 'DONE');
    await say(23, 'release', 'QUEUED');
    const found = await inFlight.waitingHolds(DEV_CHAIN, [OURS.address], 10);
    expect(found.map(({ tx, isOver }) => [tx.id, isOver])).toEqual([
      [txIdOf(11), true],
      [txIdOf(12), false],
      [txIdOf(13), false],
      [txIdOf(16), false],
      [txIdOf(20), false],
      [txIdOf(21), false],
      [txIdOf(22), true],
      [txIdOf(23), true],
    ]);
    expect(await inFlight.waitingHolds(DEV_CHAIN, [OURS.address], 1)).toHaveLength(1);
  });

  it('for a look at a hold is overdue when it is over for a minute', async () => {
    const over = { kind: 'hold', state: 'ALLOCATED', expires_at: `now() - interval '1 hour'` };
    await stored.putTx(11, over);
    await stored.putTx(12, { ...over, expires_at: `now() - interval '30 seconds'` });
    await stored.putTx(13, { ...over, expires_at: FUTURE });
    await stored.putTx(14, { ...over, expires_at: null });
    await stored.putTx(15, { ...over, state: 'IN_MEMPOOL' });
    const found = await inFlight.waitingHolds(DEV_CHAIN, [OURS.address], 10);
    expect(found.map(({ isOverdue }) => isOverdue)).toEqual([true, false, false, false, false]);
  });

  it('is as much of each signer as is asked for', async () => {
    for (const n of [1, 2, 3]) await stored.putTx(n, { state: 'IN_MEMPOOL', ...due });
    await stored.putTx(4, { state: 'IN_MEMPOOL', ...due, signer: OTHER.address });
    const both = [OURS.address, OTHER.address];
    expect(idsOf(await inFlight.dueForResubmit(DEV_CHAIN, both, 1))).toEqual(ids(1, 4));
    expect(idsOf(await inFlight.dueForReceiptCheck(DEV_CHAIN, both, 1))).toHaveLength(2);
  });

  it.each(['resubmit', 'receiptCheck'] as const)(
    'and could not be done is due again later, unless it was changed or mined meanwhile (%s)',
    async (timer) => {
      for (const n of [1, 2, 3]) await stored.putTx(n, { state: 'IN_MEMPOOL', ...due });
      const read = await txs.byIds(ids(1, 2, 3));
      await stored.read(`UPDATE managed_tx SET version = version + 1 WHERE tx_id = '${txIdOf(2)}'`);
      await stored
        .read(`UPDATE managed_tx SET state = 'CONFIRMED' WHERE tx_id = '${txIdOf(3)}'`)
        .catch(() => undefined);
      await stored.fenced([OURS], (fence) =>
        writer.postpone(fence, { timer, txs: read.map((tx) => ({ tx, inMs: 60_000 })) }),
      );
      const column = timer === 'resubmit' ? 'next_resubmit_at' : 'next_receipt_check_at';
      const rows = await stored.read<{ later: boolean }>(
        `SELECT ${column} > now() AS later FROM managed_tx ORDER BY tx_id`,
      );
      expect(rows.slice(0, 2).map(({ later }) => later)).toEqual([true, false]);
    },
  );
});

function pausedSigner(chainId: number, address: string): Promise<void> {
  return stored.put('signer_pause', { chain_id: chainId, signer: address, by: 'api' });
}

describe('the next txs', () => {
  const next = async (signer: SignerId, room: number, after: { priority: number; txId: string } | null = null) =>
    (await queue.nextPending([{ signer, room, after }])).map(({ tx }) => tx.id);

  it('are PENDING and due, and as many as there is room for', async () => {
    await everyState();
    await stored.putTx(7, { next_resubmit_at: PAST });
    await stored.putTx(8, { next_resubmit_at: FUTURE });
    await stored.putTx(9);
    expect(await next(OURS, 10)).toEqual(ids(1, 7, 9));
    expect(await next(OURS, 2)).toEqual(ids(1, 7));
  });

  it('are none of a paused signer', async () => {
    await stored.putTx(1);
    await stored.putTx(2, { next_resubmit_at: PAST });
    await stored.putTx(3, { signer: OTHER.address });
    await pausedSigner(OURS.chainId + 1, OTHER.address);
    await pausedSigner(OURS.chainId, OURS.address);
    expect(await next(OURS, 10)).toEqual([]);
    expect(await next(OTHER, 10)).toEqual(ids(3));
  });

  describe('behind a tx that the balance did not cover', () => {
    const parked = { sub_state: 'INSUFFICIENT_FUNDS', next_resubmit_at: FUTURE };

    it('wait until its timer runs out, also those that were tried and those behind the position of the lane', async () => {
      await stored.putTx(1);
      await stored.putTx(2, parked);
      await stored.putTx(3);
      await stored.putTx(4, { next_resubmit_at: PAST });
      await stored.putTx(5, { ...parked, next_resubmit_at: PAST });
      await stored.putTx(6, parked);
      await stored.putTx(7, { priority: 1 });
      await stored.putTx(8, { signer: OTHER.address });
      expect(await next(OURS, 10)).toEqual(ids(7, 1));
      expect(await next(OURS, 10, { priority: 0, txId: txIdOf(2) })).toEqual(ids(7));
      expect(await next(OTHER, 10)).toEqual(ids(8));
      await stored.read(`UPDATE managed_tx SET next_resubmit_at = ${PAST} WHERE tx_id = '${txIdOf(2)}'`);
      expect((await next(OURS, 10)).sort()).toEqual(ids(1, 2, 3, 4, 5, 7));
    });

    it('wait although their priority is above the position of the lane', async () => {
      await stored.putTx(1, { priority: 1 });
      await stored.putTx(2, { ...parked, priority: 2 });
      await stored.putTx(3, { priority: 3 });
      expect(await next(OURS, 10, { priority: 0, txId: txIdOf(1) })).toEqual(ids(3));
    });
  });

  it('begin after the one where the lane was, and with those of a higher priority that came since', async () => {
    for (const n of [1, 2, 3]) await stored.putTx(n);
    await stored.putTx(4, { priority: 5 });
    await stored.putTx(5, { priority: -5 });
    expect(await next(OURS, 10, { priority: 0, txId: txIdOf(2) })).toEqual(ids(4, 3, 5));
  });

  it('that were tried go by how long they are due', async () => {
    await stored.putTx(1, { next_resubmit_at: `now() - interval '1 minute'` });
    await stored.putTx(2, { next_resubmit_at: `now() - interval '3 minutes'` });
    await stored.putTx(3, { next_resubmit_at: `now() - interval '2 minutes'` });
    expect(await next(OURS, 10)).toEqual(ids(2, 3, 1));
    expect(await next(OURS, 2)).toEqual(ids(2, 3));
  });

  it('say whether they were tried, and whether they have expired', async () => {
    await stored.putTx(1, { expires_at: PAST });
    await stored.putTx(2, { expires_at: FUTURE });
    await stored.putTx(3, { next_resubmit_at: PAST });
    const found = await queue.nextPending([{ signer: OURS, room: 10, after: null }]);
    const told = new Map(found.map(({ tx, expired, wasTried }) => [tx.id, { expired, wasTried }]));
    expect(told.get(txIdOf(1))).toEqual({ expired: true, wasTried: false });
    expect(told.get(txIdOf(2))).toEqual({ expired: false, wasTried: false });
    expect(told.get(txIdOf(3))).toEqual({ expired: false, wasTried: true });
  });

  it('have not expired while the sender of a hold wants it longer', async () => {
    for (const n of [1, 2]) await stored.putTx(n, { expires_at: PAST, kind: 'hold' });
    await putCommand(1, 'extend', 'QUEUED');
    await putCommand(2, 'extend', 'DONE');
    const found = await queue.nextPending([{ signer: OURS, room: 10, after: null }]);
    expect(found.map(({ tx, expired }) => [tx.id, expired])).toEqual([
      [txIdOf(1), false],
      [txIdOf(2), true],
    ]);
  });
});

describe('a tx that is locked to be given a nonce', () => {
  it('is PENDING still, and one of those asked', async () => {
    await everyState();
    await stored.putTx(9);
    const read = await txs.byIds(ids(1, 2, 3, 4));
    const locked = await stored.fenced([OURS], (fence) => writer.lockPending(fence, read));
    expect([...locked]).toEqual(ids(1));
  });

  it('has not expired meanwhile, unless it is a hold whose sender wants it longer', async () => {
    await stored.putTx(1, { expires_at: PAST });
    await stored.putTx(2, { expires_at: FUTURE });
    for (const n of [3, 4]) await stored.putTx(n, { expires_at: PAST, kind: 'hold' });
    await putCommand(3, 'extend', 'QUEUED');
    const read = await txs.byIds(ids(1, 2, 3, 4));
    const locked = await stored.fenced([OURS], (fence) => queue.lockForNonce(fence, read));
    expect([...locked.ids]).toEqual(ids(2, 3));
  });

  it('is not of a paused signer, whose other writes lock it all the same', async () => {
    await stored.putTx(1);
    await stored.putTx(2, { signer: OTHER.address });
    await pausedSigner(OURS.chainId + 1, OTHER.address);
    await pausedSigner(OURS.chainId, OURS.address);
    const read = await txs.byIds(ids(1, 2));
    await stored.fenced([OURS, OTHER], async (fence) => {
      expect([...(await queue.lockForNonce(fence, read)).ids]).toEqual(ids(2));
      expect([...(await writer.lockPending(fence, read))]).toEqual(ids(1, 2));
    });
  });

  it('is left out while somebody else changes it, and nobody waits for it', async () => {
    await stored.putTx(1);
    await stored.putTx(2);
    const read = await txs.byIds(ids(1, 2));
    const session = await stored.lab.session();
    await session.run('BEGIN');
    await session.run(`SELECT FROM managed_tx WHERE tx_id = $1 FOR UPDATE`, [txIdOf(1)]);
    try {
      const locked = await stored.fenced([OURS], (fence) => writer.lockPending(fence, read));
      expect([...locked]).toEqual(ids(2));
    } finally {
      await session.run('ROLLBACK');
    }
  });

  it('is left out when a client changed it since it was read', async () => {
    await stored.putTx(1);
    await stored.putTx(2);
    const read = await txs.byIds(ids(1, 2));
    const session = await stored.lab.session();
    await session.run(`UPDATE managed_tx SET version = version + 1 WHERE tx_id = $1`, [txIdOf(1)]);
    expect([...(await stored.fenced([OURS], (fence) => writer.lockPending(fence, read)))]).toEqual(ids(2));
  });

  it('cannot be changed by anybody else until the transaction ends', async () => {
    await stored.putTx(1);
    const session = await stored.lab.session();
    const read = await txs.byIds(ids(1));
    const skipped = await stored.fenced([OURS], async (fence) => {
      await writer.lockPending(fence, read);
      return session.run(`SELECT FROM managed_tx WHERE tx_id = $1 FOR UPDATE SKIP LOCKED`, [txIdOf(1)]);
    });
    expect(skipped).toEqual([]);
  });
});

describe('txs asked for by their ids', () => {
  it('are those, with what the clients asked for', async () => {
    await stored.putTx(1, { to_address: OTHER.address, confirmations: 4, priority: 3, data: '\\xabcd' });
    await stored.putTx(2);
    expect(idsOf(await txs.byIds(ids(1)))).toEqual(ids(1));
    const [found, ...more] = await txs.requested(ids(1));
    expect(more).toEqual([]);
    expect(found?.request).toMatchObject({
      requestId: 'request-1',
      requestHash: aHash(1),
      confirmations: 4,
      priority: 3,
      payload: { to: OTHER.address, value: 1n, data: '0xabcd' },
    });
  });
});

describe('receipts that are asked for at once after a change of owner', () => {
  it('are those of everything of the signers that is in the mempool', async () => {
    await everyState();
    const last = await stored.fenced([OURS], (fence) => writer.markReceiptsDue(fence, [OURS], null));
    expect(last).toBeNull();
    expect(await stored.read('SELECT tx_id FROM managed_tx WHERE next_receipt_check_at IS NOT NULL')).toEqual([
      { tx_id: txIdOf(3) },
    ]);
  });

  it('go on behind the slot that was reached before', async () => {
    for (const n of [1, 2, 3]) await stored.putTx(n, { state: 'IN_MEMPOOL' });
    await stored.fenced([OURS], (fence) => writer.markReceiptsDue(fence, [OURS], { signer: OURS, nonce: 2n }));
    expect(await stored.read('SELECT tx_id FROM managed_tx WHERE next_receipt_check_at IS NOT NULL')).toEqual([
      { tx_id: txIdOf(3) },
    ]);
  });

  it('come in pages, each of which says where the next begins', async () => {
    await stored.read(`
      INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash)
      SELECT gen_random_uuid(), ${DEV_CHAIN}, '${OURS.address}', 'r' || n, '${aHash(1)}', 0, '', '{"speed":"standard"}', 0, 'IN_MEMPOOL', n, '${aHash(1)}'
        FROM generate_series(0, 5000) AS n`);
    const first = await stored.fenced([OURS], (fence) => writer.markReceiptsDue(fence, [OURS], null));
    expect(first).toEqual({ signer: OURS, nonce: 4_999n });
    expect(await stored.fenced([OURS], (fence) => writer.markReceiptsDue(fence, [OURS], first))).toBeNull();
    expect(await stored.read('SELECT FROM managed_tx WHERE next_receipt_check_at IS NULL')).toEqual([]);
  });
});
