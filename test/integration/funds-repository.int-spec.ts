import { describe, expect, it } from '@jest/globals';
import { PgTxWriter } from '../../src/modules/ledger/infrastructure/pg-tx-writer.js';
import { PgFundsRepository } from '../../src/modules/ledger/infrastructure/pg-funds.repository.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { NO_POLICIES } from '../support/fakes/no-policies.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const funds = new PgFundsRepository(stored.node.database);
const writer = new PgTxWriter(NO_POLICIES);
const [OURS, OTHER] = [aSigner(1), aSigner(2)];
const ELSEWHERE = { ...OURS, chainId: DEV_CHAIN + 1 };
const SHORT = { sub_state: 'INSUFFICIENT_FUNDS' };
const FUTURE = `now() + interval '1 hour'`;

const register = (low = false, { chainId, address } = OURS) =>
  stored.put('signer', { chain_id: chainId, address, custody: '{}', balance_low_at: low ? 'now()' : null });

describe('what a signer has to pay for', () => {
  it('is counted for each signer alone, and in the order asked', async () => {
    await stored.putTx(1);
    await stored.putTx(2, { state: 'IN_MEMPOOL' });
    await stored.putTx(3, { state: 'ALLOCATED' });
    await stored.putTx(4, { state: 'MINED' });
    await register(true);
    await register(false, ELSEWHERE);
    const none = { isKnown: false, inFlight: 0, hasPending: false, waitsForFunds: false, isLow: false };
    expect(await funds.standing([OTHER, OURS, ELSEWHERE])).toEqual([
      none,
      { isKnown: true, inFlight: 2, hasPending: true, waitsForFunds: false, isLow: true },
      { ...none, isKnown: true },
    ]);
  });

  it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL'])('waits for funds with one tx that is %s', async (state) => {
    await stored.putTx(1, { ...SHORT, state });
    await stored.putTx(2, { state });
    await stored.putTx(3, { state, sub_state: 'NODE_REFUSED', signer: OTHER.address });
    expect((await funds.standing([OURS, OTHER])).map(({ waitsForFunds }) => waitsForFunds)).toEqual([true, false]);
  });

  it('is summed over the queue, with the gas as requested, estimated, or the least', async () => {
    await stored.putTx(1, { options: '{"speed":"fast","gasLimit":"50000"}', value: 5 });
    await stored.putTx(2, { options: '{"speed":"fast"}', gas_limit: 30_000, value: 7 });
    await stored.putTx(3, { options: '{"speed":"slow","gasPrice":"9"}', data: '\\xabcd', to_address: OTHER.address });
    await stored.putTx(4, { options: '{"speed":"slow","gasPrice":"9"}', data: '\\xab' });
    await stored.putTx(5, { state: 'IN_MEMPOOL' });
    await stored.putTx(6, { signer: OTHER.address });
    const [none, ours = []] = await funds.queued([ELSEWHERE, OURS], 100);
    expect(none).toEqual([]);
    expect([...ours].sort((a, b) => (a.speed < b.speed ? -1 : 1))).toMatchObject([
      { speed: 'fast', fees: { gasPrice: null }, count: 2, value: 12n, gas: 80_000n },
      { speed: 'slow', fees: { gasPrice: 9n }, count: 2, value: 7n, gas: 21_000n + 32n + 21_000n + 16n + 32_000n },
    ]);
  });

  it('is summed with its blobs, apart from those with another blob fee', async () => {
    const options = (count: number, maxFeePerBlobGas?: string): string =>
      JSON.stringify({
        speed: 'fast',
        maxFeePerBlobGas,
        blobHashes: Array.from({ length: count }, (_, n) => aHash(n)),
      });
    await stored.putTx(1, { options: options(2) });
    await stored.putTx(2, { options: options(3) });
    await stored.putTx(3, { options: '{"speed":"fast"}' });
    await stored.putTx(4, { options: options(6, '9') });
    const [ours = []] = await funds.queued([OURS], 100);
    expect([...ours].sort((a, b) => a.count - b.count)).toMatchObject([
      { fees: { maxFeePerBlobGas: 9n }, count: 1, blobs: 6n },
      { fees: { maxFeePerBlobGas: null }, count: 3, blobs: 5n },
    ]);
  });

  it('counts no more than asked of each signer', async () => {
    for (const n of [1, 2, 3]) await stored.putTx(n);
    await stored.putTx(4, { signer: OTHER.address });
    const counts = (await funds.queued([OURS, OTHER], 2)).map((costs) => costs.map(({ count }) => count));
    expect(counts).toEqual([[2], [1]]);
  });
});

describe('funds that arrived', () => {
  it('make due what waits for them of these signers, whether it has a nonce or not, and nothing else', async () => {
    const later = { next_resubmit_at: FUTURE };
    await stored.putTx(1, { ...SHORT, ...later });
    await stored.putTx(2, { ...SHORT, ...later, state: 'ALLOCATED' });
    await stored.putTx(3, { ...SHORT, ...later, state: 'IN_MEMPOOL' });
    await stored.putTx(4, { ...later });
    await stored.putTx(5, { ...later, state: 'IN_MEMPOOL' });
    await stored.putTx(6, { ...SHORT, ...later, signer: OTHER.address });
    await stored.putTx(7, { ...SHORT, ...later, chain_id: ELSEWHERE.chainId });
    await stored.fenced([OURS], (fence) => writer.makeFundedDue(fence, [OURS]));
    expect(
      await stored.read('SELECT tx_id FROM managed_tx WHERE next_resubmit_at <= clock_timestamp() ORDER BY 1'),
    ).toEqual([1, 2, 3].map((n) => ({ tx_id: txIdOf(n) })));
  });
});

describe('the mark of a low balance', () => {
  it('changes once, for this signer of this chain', async () => {
    await register();
    await register(false, ELSEWHERE);
    const mark = (isLow: boolean) => stored.fenced([OURS], (fence) => funds.markLow(fence, [OURS], isLow));
    expect(await mark(false)).toEqual([]);
    expect(await mark(true)).toEqual([OURS]);
    expect(await mark(true)).toEqual([]);
    expect(await stored.read('SELECT chain_id FROM signer WHERE balance_low_at IS NOT NULL')).toHaveLength(1);
    expect(await mark(false)).toEqual([OURS]);
    expect((await funds.standing([OURS]))[0]?.isLow).toBe(false);
  });
});
