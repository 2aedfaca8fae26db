import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { SentTransaction } from '../../src/modules/chain/index.js';
import type { ChainBehind } from '../../src/modules/ledger/index.js';
import { PgLostCommitsRepository } from '../../src/modules/ledger/infrastructure/pg-lost-commits.repository.js';
import { aHash, anAddress, aSigner, DEV_CHAIN } from '../support/builders.js';
import { aPermit } from '../support/permit-builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const lost = new PgLostCommitsRepository(stored.node.database);

const OURS = aSigner(1);
const OTHER = aSigner(2);

const putEpoch = (epoch: number): Promise<void> =>
  stored.put('database_epoch', { epoch, evidence: 'first', node_id: 'first' });

const outlookOf = async (...signers: readonly (typeof OURS)[]) => lost.outlook(signers);

const putAttempt = (nonce: number, overrides = {}): Promise<void> =>
  stored.put('tx_attempt', {
    chain_id: DEV_CHAIN,
    tx_hash: aHash(0xa0 + nonce),
    signer: OURS.address,
    nonce,
    tx_id: txIdOf(nonce),
    kind: 'payload',
    raw: '\\x02',
    gas_limit: 1,
    max_fee_per_gas: 1,
    max_priority_fee_per_gas: 1,
    status: 'SIGNED',
    fencing_token: 1,
    ...overrides,
  });

it('a nonce that an outside sender gave back is open only in an epoch in which its signer was not reconciled', async () => {
  await stored.putCursor(9, OURS);
  await stored.putSlot(3, 'RELEASED');
  await stored.putSlot(4, 'RELEASED', { outside: true });
  const openOf = async () => (await outlookOf(OURS))[0]?.open.map(({ nonce }) => nonce);
  expect(await openOf()).toEqual([3n]);
  await putEpoch(2);
  expect(await openOf()).toEqual([3n, 4n]);
});

it('a nonce that an outside sender has, and with which nothing was seen, is open only in an epoch in which its signer was not reconciled', async () => {
  await stored.putCursor(9, OURS);
  await stored.putTx(3, { state: 'ALLOCATED' });
  await stored.putTx(4, { state: 'ALLOCATED', kind: 'hold' });
  const openOf = async () => (await outlookOf(OURS))[0]?.open;
  expect(await openOf()).toEqual([{ nonce: 3n, txId: txIdOf(3) }]);
  await putEpoch(2);
  expect(await openOf()).toEqual([
    { nonce: 3n, txId: txIdOf(3) },
    { nonce: 4n, txId: txIdOf(4) },
  ]);
});

it('what the outside senders of holds have named is what was accepted of these holds', async () => {
  const say = (n: number, kind: string, status: string): Promise<void> =>
    stored.put('tx_command', {
      command_id: txIdOf(900 + n),
      chain_id: DEV_CHAIN,
      signer: OURS.address,
      tx_id: txIdOf(n),
      kind,
      request_id: `command-${n}`,
      request_hash: aHash(n),
      options: JSON.stringify({ txHash: aHash(n) }),
      status,
      refusal: status === 'REFUSED' ? 'it is over' : null,
    });
  await say(1, 'consume', 'QUEUED');
  await say(2, 'consume', 'DONE');
  await say(3, 'consume', 'REFUSED');
  await say(4, 'consume', 'DONE');
  expect(await lost.named([1, 2, 3].map((n) => txIdOf(n)))).toEqual(new Set([aHash(1), aHash(2)]));
});

describe('the outlook of a signer', () => {
  it('that never acted is empty', async () => {
    expect(await outlookOf(OURS)).toEqual([
      { signer: OURS, cursor: 0n, open: [], inFlightFrom: null, known: false, suspect: false, epoch: 1 },
    ]);
  });

  it('comes in the order asked, each with its own cursor', async () => {
    await stored.putCursor(5, OURS);
    await stored.putCursor(9, OTHER);
    await stored.putCursor(7, { ...OURS, chainId: 7 });
    const outlooks = await outlookOf(OTHER, OURS);
    expect(outlooks.map(({ signer, cursor }) => [signer, cursor])).toEqual([
      [OTHER, 9n],
      [OURS, 5n],
    ]);
  });

  it('has the nonces for which no bytes are known: allocated and not signed, or free', async () => {
    for (const n of [3, 4, 5]) await stored.putTx(n, { state: 'ALLOCATED' });
    await stored.putTx(6, { state: 'IN_MEMPOOL' });
    await stored.putTx(1, { state: 'ALLOCATED', signer: OTHER.address });
    await stored.putTx(2, { state: 'ALLOCATED', chain_id: 7 });
    await putAttempt(4);
    // An attempt of another tx at the same nonce is no attempt of the tx.
    await putAttempt(5, { tx_id: txIdOf(6) });
    await stored.putSlot(9, 'RELEASED');
    await stored.putSlot(8, 'RELEASED');
    await stored.putSlot(7, 'HELD');
    await stored.putSlot(1, 'RELEASED', { signer: OTHER.address });
    const [outlook] = await outlookOf(OURS);
    expect(outlook?.open).toEqual([
      { nonce: 3n, txId: txIdOf(3) },
      { nonce: 5n, txId: txIdOf(5) },
      { nonce: 8n, txId: null },
      { nonce: 9n, txId: null },
    ]);
  });

  it('has the lowest nonce in flight', async () => {
    const from = async () => (await outlookOf(OURS))[0]?.inFlightFrom;
    await stored.putTx(2, { state: 'MINED' });
    await stored.putTx(3, { state: 'ALLOCATED', signer: OTHER.address });
    await stored.putTx(4, { state: 'ALLOCATED', chain_id: 7 });
    expect(await from()).toBeNull();
    await stored.putTx(7, { state: 'ALLOCATED' });
    expect(await from()).toBe(7n);
    await stored.putTx(5, { state: 'IN_MEMPOOL' });
    expect(await from()).toBe(5n);
  });

  it('names with each nonce the tx that has it, whatever their ids', async () => {
    await stored.putTx(1, { state: 'ALLOCATED', nonce: 8 });
    await stored.putTx(2, { state: 'ALLOCATED', nonce: 7 });
    const [outlook] = await outlookOf(OURS);
    expect(outlook?.open).toEqual([
      { nonce: 7n, txId: txIdOf(2) },
      { nonce: 8n, txId: txIdOf(1) },
    ]);
  });

  it.each([
    ['its lease was taken for the first time', { fencing_token: 1 }, false],
    ['its lease was held before', { fencing_token: 2 }, true],
    ['the lease of another was held before', { fencing_token: 2, signer: OTHER.address }, false],
    ['its lease on another chain was held before', { fencing_token: 2, chain_id: 7 }, false],
  ])('says whether anybody acted for it: %s', async (_, lease, known) => {
    await stored.putLease(lease);
    expect(await outlookOf(OURS)).toMatchObject([{ known }]);
  });

  it('says that somebody acted for it when it has a cursor', async () => {
    await stored.putCursor(0);
    expect(await outlookOf(OURS)).toMatchObject([{ known: true, suspect: false }]);
  });

  it('is suspect from a new epoch on, until it is reconciled in it', async () => {
    await putEpoch(1);
    expect(await outlookOf(OURS)).toMatchObject([{ suspect: false }]);
    await putEpoch(2);
    await putEpoch(3);
    expect(await outlookOf(OURS)).toMatchObject([{ suspect: true, known: true, epoch: 3 }]);
    await stored.fenced([OURS], (fence) => lost.reconciled(fence, OURS, 3, []));
    expect(await outlookOf(OURS, OTHER)).toMatchObject([{ suspect: false }, { suspect: true }]);
    const suspects = stored.fenced([OURS], (fence) => lost.suspects(fence.tx, [OURS, OTHER, { ...OURS, chainId: 7 }]));
    expect(await suspects).toEqual([OTHER, { ...OURS, chainId: 7 }]);
    await putEpoch(4);
    expect(await outlookOf(OURS)).toMatchObject([{ suspect: true }]);
    await stored.fenced([OURS], (fence) => lost.reconciled(fence, OURS, 4, []));
    expect(await outlookOf(OURS)).toMatchObject([{ suspect: false }]);
    expect(await stored.read('SELECT epoch, fencing_token FROM signer_reconciliation')).toEqual([
      { epoch: '4', fencing_token: '1' },
    ]);
  });
});

it('what is in flight and was never sent may be out from the reconciliation on, but for what has left its nonce', async () => {
  const [allocated, inPool, mined, refused, leaving, ended] = [1, 2, 3, 4, 5, 6];
  await stored.putTx(allocated, { state: 'ALLOCATED' });
  await stored.putTx(inPool, { state: 'IN_MEMPOOL' });
  await stored.putTx(mined, { state: 'MINED' });
  await stored.putTx(refused, { state: 'ALLOCATED' });
  await stored.putTx(leaving, { state: 'ALLOCATED' });
  await stored.putTx(ended, { state: 'CANCELLED' });
  for (const nonce of [allocated, inPool, mined, leaving, ended]) await putAttempt(nonce, { status: 'UNSENT' });
  await putAttempt(refused, { status: 'REJECTED' });
  await putAttempt(ended, { status: 'UNSENT', tx_hash: aHash(0xb0), nonce: allocated });
  await stored.putTx(7, { state: 'ALLOCATED', signer: OTHER.address });
  await putAttempt(7, { status: 'UNSENT', signer: OTHER.address });
  await stored.putTx(8, { state: 'ALLOCATED', chain_id: 7 });
  await putAttempt(8, { status: 'UNSENT', chain_id: 7 });
  await stored.fenced([OURS], (fence) => lost.reconciled(fence, OURS, 2, [txIdOf(leaving)]));
  expect(await stored.read('SELECT tx_hash, status FROM tx_attempt ORDER BY tx_hash')).toEqual(
    [
      ...[allocated, inPool, mined].map((nonce) => ({ tx_hash: aHash(0xa0 + nonce), status: 'UNKNOWN' })),
      { tx_hash: aHash(0xa0 + refused), status: 'REJECTED' },
      ...[leaving, ended, 7, 8].map((nonce) => ({ tx_hash: aHash(0xa0 + nonce), status: 'UNSENT' })),
      { tx_hash: aHash(0xb0), status: 'UNSENT' },
    ].sort((a, b) => (a.tx_hash < b.tx_hash ? -1 : 1)),
  );
});

describe('since when something waits', () => {
  const at = (text: string): number => Date.parse(text) / 1000;

  it('is never, when nothing does', async () => {
    await stored.putCursor(1);
    await stored.putTx(1, { state: 'MINED' });
    await stored.putTx(2, { signer: OTHER.address });
    await stored.putTx(3, { chain_id: 7 });
    expect(await lost.waitingSince(OURS)).toBeNull();
  });

  it('is when the oldest was created, waiting or in flight', async () => {
    await stored.putTx(1, { created_at: `'2026-01-04Z'` });
    await stored.putTx(2, { created_at: `'2026-01-03Z'` });
    await stored.putTx(3, { state: 'MINED', created_at: `'2026-01-01Z'` });
    expect(await lost.waitingSince(OURS)).toBe(at('2026-01-03'));
    await stored.putTx(4, { state: 'ALLOCATED', created_at: `'2026-01-05Z'` });
    await stored.putTx(5, { state: 'ALLOCATED', created_at: `'2026-01-02Z'` });
    expect(await lost.waitingSince(OURS)).toBe(at('2026-01-02'));
    await stored.putTx(6, { state: 'IN_MEMPOOL', created_at: `'2026-01-01Z'` });
    expect(await lost.waitingSince(OURS)).toBe(at('2026-01-01'));
  });

  it('is when the cursor was aligned last, when that was later', async () => {
    await stored.putTx(1, { created_at: `'2026-01-03Z'` });
    await stored.putCursor(1, OURS, `'2026-01-04Z'`);
    await stored.putCursor(1, OTHER, `'2026-01-09Z'`);
    expect(await lost.waitingSince(OURS)).toBe(at('2026-01-04'));
  });
});

it('the holders of nonces are the txs in flight that hold their slots', async () => {
  const put = async (n: number, state: string, slot: object = {}): Promise<void> => {
    await stored.putTx(n, { state });
    await stored.putSlot(n, 'HELD', { tx_id: txIdOf(n), ...slot });
  };
  await put(1, 'IN_MEMPOOL');
  await put(2, 'ALLOCATED');
  await put(3, 'MINED');
  await put(4, 'IN_MEMPOOL');
  await put(5, 'IN_MEMPOOL', { tx_id: null, status: 'RELEASED' });
  await stored.putTx(9, { state: 'IN_MEMPOOL' });
  await put(6, 'IN_MEMPOOL', { tx_id: txIdOf(9) });
  // A reorg took its block back, and the slot is not opened again yet.
  await put(7, 'IN_MEMPOOL', { status: 'CONSUMED', tx_hash: aHash(7) });
  const holders = await lost.holders(OURS, [1n, 2n, 3n, 5n, 6n, 7n]);
  expect(holders.map(({ tx }) => tx.id).sort()).toEqual([1, 2].map(txIdOf));
  expect(await lost.holders(OTHER, [1n, 2n])).toEqual([]);
});

describe('who has the payload of a transaction that was found', () => {
  const aSent = (overrides: Partial<SentTransaction>): SentTransaction =>
    ({ to: anAddress(2), value: 5n, data: parseHex('0xabcd'), ...overrides }) as SentTransaction;
  const like = { to_address: anAddress(2), value: 5, data: '\\xabcd' };
  const find = async (...sent: readonly SentTransaction[]): Promise<string[]> =>
    (await lost.withPayloadOf(OURS, sent, 100)).map(({ tx }) => tx.id);
  const withPlaces = (...permits: readonly { at: number; bytes: number }[][]): string =>
    JSON.stringify({ speed: 'standard', permits: permits.map((places) => ({ ...aPermit(), places })) });
  const options = withPlaces([{ at: 7, bytes: 1 }], [{ at: 4, bytes: 1 }]);

  it('may have other parts of permits than zeros, in data of the same length with the same rest', async () => {
    const template = { ...like, data: '\\x1234567800000000' };
    await stored.putTx(1, { ...template, options });
    await stored.putTx(2, template);
    await stored.putTx(3, { ...template, data: '\\x123456790000000000', options });
    await stored.putTx(4, { ...template, data: '\\x1234567900000000', options });
    await stored.putTx(5, { ...template, value: 6, options });
    await stored.putTx(6, { ...template, to_address: anAddress(3), options });
    await stored.putTx(7, { ...template, data: '\\x1234567800000100', options });
    await stored.putTx(8, { ...template, data: '\\x1234567800010000', options });
    await stored.putTx(9, { ...template, options: withPlaces([]) });
    expect(await find(aSent({ data: parseHex('0x12345678ee0000ff') }))).toEqual([txIdOf(1)]);
  });

  it('is not cut off by others that look like it, nor by those with another payload', async () => {
    const template = { ...like, data: '\\x1234567800000000' };
    for (let n = 1; n <= 6; n += 1) await stored.putTx(n, { ...template, options });
    await stored.putTx(7, { ...template, data: '\\x12345678ee0000ff' });
    await stored.putTx(8, { ...like, data: '\\xabcd' });
    await stored.putTx(9, { ...template, data: '\\x12345678000100ff' });
    const data = parseHex('0x12345678ee0000ff');
    const found = await lost.withPayloadOf(OURS, [aSent({ data }), aSent({ data }), aSent({})], 3);
    expect(found.map(({ tx }) => tx.id)).toEqual([1, 2, 7, 8].map(txIdOf));
  });

  it('is PENDING or a payload in flight, of the signer, and the same in receiver, value and data', async () => {
    await stored.putTx(1, like);
    await stored.putTx(2, { ...like, to_address: anAddress(3) });
    await stored.putTx(3, { ...like, value: 6 });
    await stored.putTx(4, { ...like, data: '\\xab' });
    await stored.putTx(5, { ...like, state: 'ALLOCATED', nonce: 5 });
    await stored.putSlot(5, 'HELD', { tx_id: txIdOf(5) });
    await stored.putTx(12, { ...like, state: 'IN_MEMPOOL', nonce: 12, sub_state: 'REPLACING' });
    await stored.putSlot(12, 'CONSUMED', { tx_id: txIdOf(1), tx_hash: aHash(1) });
    await stored.putTx(9, { ...like, state: 'MINED', nonce: 9 });
    await stored.putTx(10, {
      ...like,
      state: 'IN_MEMPOOL',
      nonce: 10,
      closing: JSON.stringify({ as: 'CANCELLED', reason: 'cancelled', won: false }),
    });
    await stored.putSlot(10, 'HELD', { tx_id: txIdOf(10) });
    await stored.putTx(11, { ...like, state: 'IN_MEMPOOL', nonce: 11, replaced_by: txIdOf(1) });
    await stored.putTx(6, { ...like, signer: OTHER.address });
    await stored.putTx(7, { ...like, chain_id: 7 });
    await stored.putTx(8, { ...like, to_address: null });
    expect(await find(aSent({}))).toEqual([txIdOf(1), txIdOf(5)]);
    // A creation has no receiver.
    expect(await find(aSent({ to: null }))).toEqual([txIdOf(8)]);
  });

  it('is told oldest first', async () => {
    await stored.putTx(1, { ...like, created_at: `'2026-01-02'` });
    await stored.putTx(2, { ...like, created_at: `'2026-01-01'` });
    await stored.putTx(4, { ...like, created_at: `'2026-01-03'` });
    await stored.putTx(3, { ...like, created_at: `'2026-01-03'` });
    expect(await find(aSent({}))).toEqual([2, 1, 3, 4].map(txIdOf));
  });
});

describe('the books of signers', () => {
  const ELSEWHERE = { ...OURS, chainId: 7 };
  const aReset: ChainBehind = { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 6, block: null };
  const aLowerNonce: ChainBehind = { ...aReset, cause: 'LOWER_NONCE', chainNonce: 4 };
  const nothing = { begun: false, usedBelow: 0n, block: 0, origin: [], behind: null };
  const booksOf = (...signers: readonly SignerId[]) => lost.books(signers);
  const mark = (signer: SignerId, behind: ChainBehind | null): Promise<void> =>
    stored.fenced([signer], (fence) => lost.markBehind(fence, signer, behind));
  const marked = async (): Promise<(string | undefined)[]> =>
    (await booksOf(OURS, OTHER, ELSEWHERE)).map(({ behind }) => behind?.cause);
  const since = (): Promise<object[]> =>
    stored.read('SELECT chain_id, signer, behind_since FROM signer_nonce_cursor ORDER BY chain_id, signer');

  it('tell what each has used up to where, and in which block, in the order asked', async () => {
    await stored.putCursor(9, OURS);
    await stored.putCursor(4, OTHER);
    for (const n of [3, 5]) {
      await stored.putTx(n, { state: 'CONFIRMED', block_number: 10 * n });
      await stored.putSlot(n, 'CONSUMED', { tx_id: txIdOf(n), tx_hash: aHash(n) });
    }
    await stored.putSlot(6, 'HELD', { tx_id: txIdOf(6) });
    await stored.putSlot(7, 'RELEASED');
    // By somebody else, so that we know of no block.
    await stored.putSlot(8, 'CONSUMED', { signer: OTHER.address });
    await stored.putSlot(30, 'CONSUMED', { chain_id: 7 });
    expect(await booksOf(OTHER, aSigner(3), OURS, ELSEWHERE)).toEqual([
      { ...nothing, signer: OTHER, begun: true, usedBelow: 9n },
      { ...nothing, signer: aSigner(3) },
      { ...nothing, signer: OURS, begun: true, usedBelow: 6n, block: 50 },
      { ...nothing, signer: ELSEWHERE, usedBelow: 31n },
    ]);
  });

  it('tell the nonces that are used from one on, lowest first', async () => {
    for (const n of [2, 4, 3, 6]) await stored.putSlot(n, 'CONSUMED');
    await stored.putSlot(5, 'HELD', { tx_id: txIdOf(5) });
    await stored.putSlot(4, 'CONSUMED', { signer: OTHER.address });
    const from = async (limit: number) => lost.consumedFrom({ signer: OURS, nonce: 3n }, limit);
    expect((await from(9)).map(({ nonce }) => nonce)).toEqual([3n, 4n, 6n]);
    expect((await from(2)).map(({ nonce }) => nonce)).toEqual([3n, 4n]);
  });

  it('have the first blocks of the chain of each', async () => {
    for (const signer of [OURS, OTHER, ELSEWHERE]) await stored.putCursor(1, signer);
    await stored.fenced([OURS], (fence) => lost.noteOrigin(fence, OURS, [aHash(1), aHash(2)]));
    const origins = (await booksOf(OURS, OTHER, ELSEWHERE)).map(({ origin }) => origin);
    expect(origins).toEqual([[aHash(1), aHash(2)], [], []]);
  });

  it('say that its chain is behind, of each by itself, and since when', async () => {
    for (const signer of [OURS, OTHER, ELSEWHERE]) await stored.putCursor(1, signer);
    await mark(OURS, aLowerNonce);
    expect(await marked()).toEqual(['LOWER_NONCE', undefined, undefined]);
    for (const signer of [OTHER, ELSEWHERE]) await mark(signer, aLowerNonce);
    const before = await since();
    await mark(OURS, aReset);
    expect([await marked(), await since()]).toEqual([['CHAIN_RESET', 'LOWER_NONCE', 'LOWER_NONCE'], before]);
    await mark(OURS, null);
    expect(await marked()).toEqual([undefined, 'LOWER_NONCE', 'LOWER_NONCE']);
  });
});
