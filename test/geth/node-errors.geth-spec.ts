import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Geth } from '../support/geth.js';
import { GethWire, GWEI } from '../support/geth-wire.js';
import { until } from '../support/until.js';

/** No account of the genesis has its key. */
const POOR = 500;
const DELEGATED = 7;

const ACCEPTED = { kind: 'accepted' };

describe('what geth answers to a send has the right class', () => {
  let geth: Geth;
  let wire: GethWire;

  /** Blocks are empty, so a nonce stays free until the end. Every limit is one that operators set, or geth's own. */
  beforeAll(async () => {
    geth = await Geth.start({
      held: true,
      genesis: { delegated: [DELEGATED] },
      flags: ['--txpool.nolocals', '--txpool.pricelimit', String(GWEI), '--rpc.txfeecap', '0.5'],
    });
    wire = new GethWire(geth.url);
  });

  afterAll(async () => {
    await wire.close();
    await geth.stop();
  });

  it('the same bytes again are already known', async () => {
    expect(await wire.send(0, {})).toEqual(ACCEPTED);
    expect(await wire.send(0, {})).toEqual({ kind: 'accepted', errorClass: 'already_known' });
  });

  it.each([
    ['less than 10 % more tip', { maxFeePerGas: 11n * GWEI, maxPriorityFeePerGas: (GWEI * 109n) / 100n }],
    ['less than 10 % more fee cap', { maxFeePerGas: (10n * GWEI * 109n) / 100n, maxPriorityFeePerGas: 2n * GWEI }],
    ['the same price', { value: 2n }],
  ])('%s is no replacement', async (_name, tx) => {
    await wire.send(1, {});
    expect(await wire.send(1, tx)).toMatchObject({ errorClass: 'replacement_underpriced' });
  });

  it('10 % more on both is a replacement', async () => {
    await wire.send(2, {});
    const tenth = { maxFeePerGas: 11n * GWEI, maxPriorityFeePerGas: (GWEI * 11n) / 10n };
    expect(await wire.send(2, tenth)).toEqual(ACCEPTED);
  });

  it.each([
    ['a tip below the least of the pool', 'underpriced', { maxPriorityFeePerGas: GWEI - 1n }],
    ['more value than the account has', 'insufficient_funds', { value: 10n ** 30n }],
    ['more gas than a block has', 'gas_limit_exceeds_block', { gasLimit: 30_000_001n }],
    ['more gas than a transaction may have since Osaka', 'gas_limit_exceeds_block', { gasLimit: 2n ** 24n + 1n }],
    ['less gas than a transfer needs', 'intrinsic_gas_too_low', { gasLimit: 20_999n }],
    ['less gas than its data need', 'intrinsic_gas_too_low', { gasLimit: 25_000n, data: `0x${'ff'.repeat(200)}` }],
    ['a fee above --rpc.txfeecap', 'node_fee_cap_exceeded', { maxFeePerGas: 10_000n * GWEI }],
    ['another chain id', 'invalid_chain_id', { chainId: 1 }],
    ['more than 128 kB', 'oversized_data', { gasLimit: 16_000_000n, data: `0x${'00'.repeat(131_072)}` }],
    [
      'init code that is too long',
      'oversized_data',
      { to: null, gasLimit: 16_000_000n, data: `0x${'00'.repeat(49_153)}` },
    ],
  ])('%s: %s', async (_name, errorClass, tx) => {
    expect(await wire.send(3, tx)).toMatchObject({ kind: 'rejected', errorClass });
  });

  it('an account without money has insufficient funds', async () => {
    expect(await wire.send(POOR, {})).toMatchObject({ kind: 'rejected', errorClass: 'insufficient_funds' });
  });

  it('a fee cap below the base fee is accepted, and waits', async () => {
    expect(await wire.send(4, { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI })).toEqual(ACCEPTED);
  });

  it('a nonce far ahead is accepted, and waits', async () => {
    expect(await wire.send(5, { nonce: 30 })).toEqual(ACCEPTED);
  });

  it('an account with a delegation has one transaction in flight, at its next nonce', async () => {
    const limited = { kind: 'rejected', errorClass: 'delegated_account_limit' };
    expect(await wire.send(DELEGATED, { nonce: 1 })).toMatchObject(limited);
    expect(await wire.send(DELEGATED, {})).toEqual(ACCEPTED);
    expect(await wire.send(DELEGATED, { nonce: 1 })).toMatchObject(limited);
  });

  it('another transaction at a nonce that was mined is too low', async () => {
    await geth.release();
    await until('nonce 0 is mined', async () => {
      await wire.send(6, {});
      return (await wire.minedOf(6)) === 1n;
    });
    expect(await wire.send(6, { value: 2n })).toMatchObject({ kind: 'unknown', errorClass: 'nonce_too_low' });
    expect(await wire.send(6, {})).toMatchObject({ errorClass: 'nonce_too_low' });
  });
});

/** The pool has five transactions, and no room for a sixth. */
describe('what geth answers with a full pool has the right class', () => {
  let geth: Geth;
  let wire: GethWire;

  beforeAll(async () => {
    geth = await Geth.start({
      held: true,
      flags: ['--txpool.nolocals', '--txpool.globalslots', '4', '--txpool.globalqueue', '1'],
    });
    wire = new GethWire(geth.url);
    for (let nonce = 0; nonce < 5; nonce += 1) expect(await wire.send(0, { nonce })).toEqual(ACCEPTED);
  });

  afterAll(async () => {
    await wire.close();
    await geth.stop();
  });

  it('a price that is not above the cheapest one of the pool: underpriced', async () => {
    expect(await wire.send(1, {})).toMatchObject({ kind: 'rejected', errorClass: 'underpriced' });
  });

  it('a better price behind a nonce gap: the pool is full', async () => {
    const better = { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    expect(await wire.send(1, { ...better, nonce: 3 })).toMatchObject({ kind: 'rejected', errorClass: 'txpool_full' });
  });
});
