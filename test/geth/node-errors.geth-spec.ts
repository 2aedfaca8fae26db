import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keccak256, type TransactionLike } from 'ethers';
import { Registry } from 'prom-client';
import { configFrom } from '../../src/config/index.js';
import { DEV_CHAIN_ID } from '../../src/dev/dev-accounts.js';
import { parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { BroadcastOutcome, ChainConnector, SignedBytes } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { devWallet } from '../support/dev-wallets.js';
import { Geth } from '../support/geth.js';
import { until } from '../support/until.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';

const GWEI = 10n ** 9n;
const SINK = '0x00000000000000000000000000000000000000bb';
/** No account of the genesis has its key. */
const POOR = 500;

let geth: Geth;
let chains: ConfiguredChains;
let connector: ChainConnector;

/** Blocks are empty, so a nonce stays free until the end. Every limit is one that operators set, or geth's own. */
beforeAll(async () => {
  geth = await Geth.start({
    held: true,
    flags: ['--txpool.nolocals', '--txpool.pricelimit', String(GWEI), '--rpc.txfeecap', '0.5'],
  });
  chains = new ConfiguredChains(
    configFrom({
      database: { url: 'postgres://unused' },
      chains: [{ id: DEV_CHAIN_ID, rpcUrls: [geth.url], signers: [] }],
    }),
    new Registry(),
    new ShiftedClock(),
    new RecordingLog(),
  );
  connector = chains.get(DEV_CHAIN_ID);
});

afterAll(async () => {
  await chains.onApplicationShutdown();
  await geth.stop();
});

async function signed(account: number, tx: TransactionLike): Promise<SignedBytes> {
  const fees = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
  const base = { chainId: DEV_CHAIN_ID, type: 2, nonce: 0, to: SINK, value: 1n, gasLimit: 100_000n, ...fees };
  const raw = await devWallet(account).signTransaction({ ...base, ...tx });
  return { raw: parseHex(raw), hash: parseHash(keccak256(raw)) };
}

async function send(account: number, tx: TransactionLike): Promise<BroadcastOutcome | undefined> {
  return (await connector.broadcast([await signed(account, tx)]))[0];
}

const ACCEPTED = { kind: 'accepted' };

describe('what geth answers to a send has the right class', () => {
  it('the same bytes again are already known', async () => {
    expect(await send(0, {})).toEqual(ACCEPTED);
    expect(await send(0, {})).toEqual({ kind: 'accepted', errorClass: 'already_known' });
  });

  it.each([
    ['less than 10 % more tip', { maxFeePerGas: 11n * GWEI, maxPriorityFeePerGas: (GWEI * 109n) / 100n }],
    ['less than 10 % more fee cap', { maxFeePerGas: (10n * GWEI * 109n) / 100n, maxPriorityFeePerGas: 2n * GWEI }],
    ['the same price', { value: 2n }],
  ])('%s is no replacement', async (_name, tx) => {
    await send(1, {});
    expect(await send(1, tx)).toMatchObject({ errorClass: 'replacement_underpriced' });
  });

  it('10 % more on both is a replacement', async () => {
    await send(2, {});
    const tenth = { maxFeePerGas: 11n * GWEI, maxPriorityFeePerGas: (GWEI * 11n) / 10n };
    expect(await send(2, tenth)).toEqual(ACCEPTED);
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
    expect(await send(3, tx)).toMatchObject({ kind: 'rejected', errorClass });
  });

  it('an account without money has insufficient funds', async () => {
    expect(await send(POOR, {})).toMatchObject({ kind: 'rejected', errorClass: 'insufficient_funds' });
  });

  it('a fee cap below the base fee is accepted, and waits', async () => {
    expect(await send(4, { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI })).toEqual(ACCEPTED);
  });

  it('a nonce far ahead is accepted, and waits', async () => {
    expect(await send(5, { nonce: 30 })).toEqual(ACCEPTED);
  });

  it('another transaction at a nonce that was mined is too low', async () => {
    await geth.release();
    await until('nonce 0 is mined', async () => {
      await send(6, {});
      return (await connector.transactionCounts([parseAddress(devWallet(6).address)], 'latest'))[0] === 1n;
    });
    expect(await send(6, { value: 2n })).toMatchObject({ kind: 'unknown', errorClass: 'nonce_too_low' });
    expect(await send(6, {})).toMatchObject({ errorClass: 'nonce_too_low' });
  });
});
