import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type DemandedFee, demandedFee } from '../../../src/modules/chain/domain/demanded-fee.js';

const fee = (maxFeePerGas: bigint): DemandedFee => ({ maxFeePerGas });
const tip = (maxPriorityFeePerGas: bigint): DemandedFee => ({ maxPriorityFeePerGas });
const blob = (maxFeePerBlobGas: bigint): DemandedFee => ({ maxFeePerBlobGas });

/** Messages of real clients (test/data); what is not here demands nothing that is a price. */
const DEMANDS: readonly [string, DemandedFee][] = [
  ['transaction gas price below minimum: blob fee cap 0, minimum needed 1', blob(1n)],
  ['transaction underpriced: gas tip cap 1, minimum needed 1000000', tip(1_000_000n)],
  ['transaction gas price below minimum: gas tip cap 1000000000, minimum needed 25000000000', tip(25_000_000_000n)],
  ['transaction underpriced: tip needed 3000000000, tip permitted 1000000000', tip(3_000_000_000n)],
  ['replacement transaction underpriced: new tx gas fee cap 1000000000 <= 2000000000 queued', fee(2_000_000_001n)],
  [
    'replacement transaction underpriced: new tx gas tip cap 1000000000 < 2000000000 queued + 100% replacement penalty',
    tip(4_000_000_000n),
  ],
  ['replacement transaction underpriced: new tx gas tip cap 1 <= 2 queued + 10% replacement penalty', tip(3n)],
  ['replacement transaction underpriced: new tx blob gas fee cap 1 < 2 queued + 100% replacement penalty', blob(4n)],
  [
    'transaction underpriced: address 0x8d have gas fee cap (0) < pool minimum fee cap (25000000000)',
    fee(25_000_000_000n),
  ],
  ['transaction underpriced: address 0x8d have gas tip cap (225) < pool gas tip cap (470)', tip(470n)],
  [
    'Replacement transaction underpriced. A gasPrice/maxFeePerGas of at least 3300000000 is necessary to replace the existing transaction with nonce 0.',
    fee(3_300_000_000n),
  ],
  [
    'Replacement transaction underpriced. A gasPrice/maxPriorityFeePerGas of at least 1100000000 is necessary to replace the existing transaction with nonce 0.',
    tip(1_100_000_000n),
  ],
  ['Transaction gas price is 1, which is below the minimum of 8000000000', fee(8_000_000_000n)],
  [
    'Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of 875000000',
    fee(875_000_000n),
  ],
  ['max fee per gas less than block base fee: address 0x71, maxFeePerGas: 1, baseFee: 875000000', fee(875_000_000n)],
  [
    'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100, MaxPriorityFeePerGas:200, Block number: 5',
    fee(100n),
  ],
  ['FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30', { ...tip(20n), ...fee(30n) }],
  [
    'FeeTooLow, FeePerGas needs to be higher than 100 to be added to the TxPool. Affordable FeePerGas of rejected tx: 50.',
    fee(101n),
  ],
  ["GasFeeCap doesn't meet base fee lower bound for inclusion (GasFeeCap: 1, baseFeeLowerBound: 2)", fee(2n)],
  ['Transaction max gas price is lower then the required base fee (gas_price: 1, base_fee: 2).', fee(2n)],
  ['Max gas price is lower then required base fee. Gas price=1, Base fee=2', fee(2n)],
  ['invalid tx: maxFee is smaller than baseFee. maxFee=1, baseFee=2', fee(2n)],
  ['tx max fee per blob gas less than block blob gas fee: address 0x71 blobGasFeeCap: 1, blobBaseFee: 7', blob(7n)],
  ['max fee per blob gas too low: address 0x71, maxFeePerBlobGas: 1 < blobGasPrice: 7', blob(7n)],
  ['BlobGasPriceGreaterThanMax { block_blob_gas_price: 7, tx_max_fee_per_blob_gas: 1 }', blob(7n)],
  ['blob gas price (7) is greater than max fee per blob gas (1)', blob(7n)],
  ['invalid tx: maxFeePerBlobGas smaller than blobGasPrice. maxFeePerBlobGas=1, blobGasPrice=2', blob(2n)],
  ['transaction priority fee below minimum required priority fee 1000000', tip(1_000_000n)],
  ['PriorityFeeBelowMinimum { minimum_priority_fee: 1000000 }', tip(1_000_000n)],
  ['gas price too low: 18000000000 wei, use at least tx.gasPrice = 19500000000 wei', fee(19_500_000_000n)],
  ["Gas price '1' is below configured minimum gas price '710000000000'", fee(710_000_000_000n)],
  ["It does not satisfy your node's minimal gas price (minimal: 100 got: 50).", fee(100n)],
  ['Insufficient gas price. Min=5, Given=4', fee(5n)],
  ['gas price too low. Must be at least 5', fee(5n)],
  ['Not sufficient min price in space Ethereum, expected 5, actual 4', fee(5n)],
  ['transaction underpriced: have 1 want 2', fee(2n)],
  ['dropped transaction below new gas price threshold of 5', fee(5n)],
  ['gas prices too low, got: 1aatom required: 10aatom. Please retry using a higher gas price', fee(10n)],
  [
    'Transaction gas price 100wei is too low. There is another transaction with same nonce in the queue with gas price 150wei.',
    fee(151n),
  ],
  ['Gas price too low to replace, previous tx gas: 5, new tx gas: 4', fee(6n)],
  ['Tx with same nonce already inserted. To replace it, you need to specify a gas price > 5', fee(6n)],
  ['already in mpool, increase GasPremium to 3 from 2 to trigger replace by fee', tip(3n)],
];

describe('what a node demands', () => {
  it.each(DEMANDS)('in "%s"', (message, demanded) => expect(demandedFee(message)).toEqual(demanded));

  it.each([
    'transaction underpriced',
    'insufficient fees; got: 1 required: 10: insufficient fee',
    'transaction feeCap 5 below chain minimum',
    `transaction underpriced: gas tip cap 1, minimum needed ${'9'.repeat(40)}`,
    '',
  ])('is nothing in "%s"', (message) => expect(demandedFee(message)).toBeNull());

  it('is found in every message of a known client that has a number beside the price that was offered', () => {
    const classes = ['underpriced', 'replacement_underpriced', 'fee_cap_too_low', 'blob_fee_cap_too_low'];
    const rows = ['node-errors.json', 'node-errors-from-sources.json', 'node-errors-of-other-clients.json'].flatMap(
      (file): { message: string; class: string }[] =>
        JSON.parse(readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8')),
    );
    const withTwoPrices = rows
      .filter((row) => classes.includes(row.class))
      .map(({ message }) => message)
      .filter((message) => (message.replace(/0x[0-9a-f]+/gi, '').match(/(?<![\d.])\d+(?![\d.])/g) ?? []).length > 1);
    expect(withTwoPrices.length).toBeGreaterThan(30);
    expect(withTwoPrices.filter((message) => demandedFee(message) === null)).toEqual([
      'insufficient fees; got: 1 required: 10: insufficient fee',
    ]);
  });
});
