import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import type { Attempt, AttemptOutcome } from '../../src/modules/ledger/domain/attempt.js';
import { PgAttemptRepository } from '../../src/modules/ledger/infrastructure/pg-attempt.repository.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const attempts = new PgAttemptRepository(stored.node.database);

const OURS = aSigner(1);
const OTHER = aSigner(2);
const ELSEWHERE = { ...OURS, chainId: 7 };

/** A payload of tx 1 for nonce 1. */
const anAttempt = (overrides: Partial<Attempt> = {}): Attempt => ({
  signer: OURS,
  nonce: 1n,
  txHash: aHash(0xa1),
  raw: parseHex('0x02abcd'),
  kind: 'payload',
  txId: txIdOf(1),
  gasLimit: 21_000n,
  fees: { maxFeePerGas: 20n, maxPriorityFeePerGas: 2n },
  type: 2,
  pricedAtBlock: 5,
  status: 'SIGNED',
  errorClass: null,
  ...overrides,
});

const anOutcome = (attempt: Attempt, overrides: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  attempt,
  status: 'ACCEPTED',
  errorClass: null,
  error: null,
  notSent: false,
  alone: false,
  ...overrides,
});

const insert = (...given: readonly Attempt[]): Promise<void> =>
  stored.fenced(
    given.map(({ signer }) => signer),
    (fence) => attempts.insert(fence, given),
  );

async function putAttempt(n: number, overrides: Record<string, string | number | null> = {}): Promise<void> {
  await stored.put('tx_attempt', {
    chain_id: DEV_CHAIN,
    tx_hash: aHash(n),
    signer: OURS.address,
    nonce: 1,
    tx_id: txIdOf(1),
    kind: 'payload',
    raw: '\\x02',
    gas_limit: 21_000,
    max_fee_per_gas: 20,
    max_priority_fee_per_gas: 2,
    priced_at_block: 5,
    status: 'ACCEPTED',
    fencing_token: 1,
    ...overrides,
  });
}

/** By the last digits of their hashes. */
async function statuses(): Promise<Record<string, string>> {
  const rows = await stored.read<{ n: string; status: string }>(
    'SELECT right(tx_hash, 2) AS n, status FROM tx_attempt ORDER BY tx_hash, chain_id',
  );
  return Object.fromEntries(rows.map(({ n, status }) => [n, status]));
}

describe('an attempt', () => {
  it('is stored with all that was signed, under the token of its lease', async () => {
    await stored.putLease({ fencing_token: 41, expires_at: `now() - interval '1 hour'` });
    await stored.putSlot(1, 'HELD', { tx_id: txIdOf(1) });
    await insert(anAttempt());
    expect(await attempts.ofSlots([{ signer: OURS, nonce: 1n }])).toEqual([anAttempt()]);
    expect(await stored.read('SELECT fencing_token FROM tx_attempt')).toEqual([{ fencing_token: '42' }]);
  });

  it.each([
    ['is another tx’s', 'HELD', { tx_id: txIdOf(2) }],
    ['is free', 'RELEASED', {}],
    ['was consumed', 'CONSUMED', { tx_id: txIdOf(1), tx_hash: aHash(9) }],
    ['is of another nonce', 'HELD', { nonce: 2, tx_id: txIdOf(1) }],
    ['is of another signer', 'HELD', { signer: OTHER.address, tx_id: txIdOf(1) }],
    ['is on another chain', 'HELD', { chain_id: 7, tx_id: txIdOf(1) }],
  ])('is refused when its slot %s', async (_, status, overrides) => {
    await stored.putSlot(1, status, overrides);
    await expect(insert(anAttempt())).rejects.toThrow(/does not hold/);
    expect(await statuses()).toEqual({});
  });

  it('of a fill is stored like a payload, for the slot that the fill holds', async () => {
    const fill = anAttempt({ kind: 'fill' });
    await stored.putSlot(1, 'HELD', { tx_id: txIdOf(1) });
    await insert(fill);
    expect(await attempts.ofSlots([{ signer: OURS, nonce: 1n }])).toEqual([fill]);
  });

  it('that is signed again with the same bytes starts over, as what it is now', async () => {
    await stored.putSlot(1, 'HELD', { tx_id: txIdOf(1) });
    await putAttempt(0xa1, { status: 'REJECTED', tx_id: txIdOf(2), kind: 'fill' });
    await insert(anAttempt());
    const [found] = await attempts.ofSlots([{ signer: OURS, nonce: 1n }]);
    expect(found).toMatchObject({ status: 'SIGNED', txId: txIdOf(1), kind: 'payload' });
  });
});

describe('an attempt that is sent', () => {
  it('counts as signed from before it goes out again, when it was refused, and else stays what it is', async () => {
    for (const [n, status] of ['REJECTED', 'ACCEPTED', 'UNKNOWN', 'MINED', 'LOST'].entries())
      await putAttempt(0xa1 + n, { status });
    await putAttempt(0xb1, { status: 'REJECTED' });
    const sent = [0xa1, 0xa2, 0xa3, 0xa4, 0xa5].map((n) => anAttempt({ txHash: aHash(n) }));
    await stored.fenced([OURS], (fence) => attempts.aboutToSend(fence, sent));
    expect(await statuses()).toEqual({
      a1: 'SIGNED',
      a2: 'ACCEPTED',
      a3: 'UNKNOWN',
      a4: 'MINED',
      a5: 'LOST',
      b1: 'REJECTED',
    });
  });

  it('has what it was answered with, and when', async () => {
    await putAttempt(0xa1, { status: 'SIGNED' });
    await putAttempt(0xa2, { status: 'SIGNED' });
    const outcome = anOutcome(anAttempt(), { status: 'REJECTED', errorClass: 'underpriced', error: 'too low' });
    await stored.fenced([OURS], (fence) => attempts.recordOutcomes(fence, [outcome]));
    expect(
      await stored.read('SELECT status, error_class, last_error, last_sent_at FROM tx_attempt ORDER BY tx_hash'),
    ).toEqual([
      { status: 'REJECTED', error_class: 'underpriced', last_error: 'too low', last_sent_at: expect.any(Date) },
      { status: 'SIGNED', error_class: null, last_error: null, last_sent_at: null },
    ]);
  });

  it.each(['MINED', 'LOST'])('and is %s stays so, whatever a node says about it later', async (status) => {
    await putAttempt(0xa1, { status });
    await stored.fenced([OURS], (fence) => attempts.recordOutcomes(fence, [anOutcome(anAttempt())]));
    expect(await statuses()).toEqual({ a1: status });
  });

  it('on one chain says nothing of the same hash on another', async () => {
    await putAttempt(0xa1, { status: 'REJECTED' });
    await putAttempt(0xa1, { status: 'REJECTED', chain_id: 7 });
    await stored.fenced([OURS], async (fence) => {
      await attempts.aboutToSend(fence, [anAttempt()]);
      await attempts.recordOutcomes(fence, [anOutcome(anAttempt())]);
    });
    expect(await stored.read('SELECT chain_id, status FROM tx_attempt ORDER BY chain_id')).toEqual([
      { chain_id: '7', status: 'REJECTED' },
      { chain_id: `${DEV_CHAIN}`, status: 'ACCEPTED' },
    ]);
  });
});

describe('the attempts of a slot', () => {
  const others = async (): Promise<void> => {
    await putAttempt(0xc1, { nonce: 2 });
    await putAttempt(0xc2, { signer: OTHER.address });
    await putAttempt(0xc3, { chain_id: 7 });
  };
  const untouched = { c1: 'ACCEPTED', c2: 'ACCEPTED', c3: 'ACCEPTED' };

  it('are MINED and LOST when one of them was mined, and no other slot is touched', async () => {
    await others();
    for (const n of [0xa1, 0xa2, 0xa3]) await putAttempt(n, { status: n === 0xa3 ? 'REJECTED' : 'ACCEPTED' });
    await stored.fenced([OURS], (fence) => attempts.decide(fence, [{ signer: OURS, nonce: 1n, txHash: aHash(0xa2) }]));
    expect(await statuses()).toEqual({ a1: 'LOST', a2: 'MINED', a3: 'LOST', ...untouched });
  });

  it('are all LOST when none of them was mined', async () => {
    for (const n of [0xa1, 0xa2]) await putAttempt(n, {});
    await stored.fenced([OURS], (fence) => attempts.decide(fence, [{ signer: OURS, nonce: 1n, txHash: null }]));
    expect(await statuses()).toEqual({ a1: 'LOST', a2: 'LOST' });
  });

  it('may all be mined again after a reorg, but for those that were refused', async () => {
    await others();
    await putAttempt(0xc4, { nonce: 3, status: 'MINED' });
    await putAttempt(0xc5, { chain_id: 7, status: 'MINED' });
    await putAttempt(0xc6, { signer: OTHER.address, status: 'LOST' });
    for (const [n, status] of ['MINED', 'LOST', 'REJECTED', 'SIGNED'].entries()) await putAttempt(0xa1 + n, { status });
    await stored.fenced([OURS], (fence) => attempts.reopen(fence, [{ signer: OURS, nonce: 1n }]));
    expect(await statuses()).toEqual({
      a1: 'UNKNOWN',
      a2: 'UNKNOWN',
      a3: 'REJECTED',
      a4: 'SIGNED',
      ...untouched,
      c4: 'MINED',
      c5: 'MINED',
      c6: 'LOST',
    });
  });

  it('are told oldest first, and of no other slot', async () => {
    await others();
    await putAttempt(0xa1, { created_at: `now() - interval '1 minute'` });
    await putAttempt(0xa2, { created_at: `now() - interval '3 minutes'` });
    await putAttempt(0xa3, { created_at: `now() - interval '2 minutes'` });
    const found = await attempts.ofSlots([{ signer: OURS, nonce: 1n }]);
    expect(found.map(({ txHash }) => txHash)).toEqual([0xa2, 0xa3, 0xa1].map(aHash));
  });

  it('are told in the order of their hashes when they are of one moment', async () => {
    for (const n of [0xa3, 0xa1, 0xa2]) await putAttempt(n, { created_at: `'2026-01-01'` });
    const found = await attempts.ofSlots([{ signer: OURS, nonce: 1n }]);
    expect(found.map(({ txHash }) => txHash)).toEqual([0xa1, 0xa2, 0xa3].map(aHash));
  });

  it('are found by their hashes on one chain', async () => {
    await putAttempt(0xa1);
    await putAttempt(0xa2);
    await putAttempt(0xa1, { chain_id: 7 });
    expect(await attempts.byHashes(DEV_CHAIN, [aHash(0xa1), aHash(0xff)])).toEqual([
      anAttempt({ raw: parseHex('0x02'), status: 'ACCEPTED' }),
    ]);
  });
});

describe('a slot that was consumed without a tx', () => {
  const register = async (): Promise<void> => {
    for (const { chainId, address } of [OURS, OTHER, ELSEWHERE])
      await stored.put('signer', { chain_id: chainId, address, custody: '{}' });
  };

  it('is found from the block on that is asked for, of every signer of the chain', async () => {
    await register();
    for (const n of [5, 7]) {
      await stored.putTx(n, { state: 'CONFIRMED', block_number: n * 10 });
      await stored.putSlot(n, 'CONSUMED', { tx_id: txIdOf(n), tx_hash: aHash(n) });
    }
    await stored.putSlot(4, 'CONSUMED', { tx_hash: aHash(4) });
    await stored.putSlot(6, 'CONSUMED', { tx_hash: aHash(6) });
    await stored.putSlot(8, 'CONSUMED');
    await stored.putSlot(9, 'HELD');
    await stored.putSlot(1, 'CONSUMED', { signer: OTHER.address });
    await stored.putSlot(2, 'CONSUMED', { chain_id: 7 });
    const found = await attempts.consumedWithoutTx(DEV_CHAIN, 60);
    const told = found.map(({ signer, nonce }) => [Number(signer.address), Number(nonce)]);
    expect(told.sort(([, a], [, b]) => Number(a) - Number(b))).toEqual([
      [2, 1],
      [1, 6],
      [1, 8],
    ]);
  });

  it('is the same still when nobody has changed it since', async () => {
    await register();
    for (const n of [1, 2, 3]) await stored.putSlot(n, 'CONSUMED');
    const found = await attempts.consumedWithoutTx(DEV_CHAIN, 0);
    expect(found).toHaveLength(3);
    await stored.read('UPDATE signer_nonce_allocation SET updated_at = now() WHERE nonce = 2');
    await stored.read(`UPDATE signer_nonce_allocation SET status = 'HELD' WHERE nonce = 3`);
    const still = await attempts.stillConsumed(found);
    expect(still.map(({ nonce }) => nonce)).toEqual([1n]);
  });

  it('is not the same when a tx has it now', async () => {
    await register();
    await stored.putSlot(1, 'CONSUMED');
    const found = await attempts.consumedWithoutTx(DEV_CHAIN, 0);
    await stored.read(`UPDATE signer_nonce_allocation SET tx_id = '${txIdOf(1)}', tx_hash = '${aHash(1)}'`);
    expect(await attempts.stillConsumed(found)).toEqual([]);
  });
});
