import { describe, expect, it } from '@jest/globals';
import { keccak256 } from 'ethers';
import * as answer from '../../../src/modules/chain/infrastructure/parse-answer.js';

const HASH = `0x${'ab'.repeat(32)}`;
const ZEROS = `0x${'0'.repeat(64)}`;
const RECEIPT = {
  transactionHash: HASH.toUpperCase().replace('0X', '0x'),
  blockNumber: '0x10',
  blockHash: HASH,
  transactionIndex: '0x0',
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x3b9aca07',
  contractAddress: null,
};
const BLOCK = {
  number: '0x10',
  hash: HASH,
  parentHash: HASH,
  timestamp: '0x65',
  baseFeePerGas: '0x7',
  transactions: [HASH],
};

describe('answers are parsed at the edge', () => {
  it('a receipt, in one spelling', () => {
    expect(answer.receipt(RECEIPT)).toEqual({
      txHash: HASH,
      blockNumber: 16,
      blockHash: HASH,
      transactionIndex: 0,
      status: 'success',
      gasUsed: 21_000n,
      effectiveGasPrice: 1_000_000_007n,
      contractAddress: null,
    });
    expect(answer.receipt({ ...RECEIPT, status: '0x0' })).toMatchObject({ status: 'reverted' });
    expect(answer.receipt({ ...RECEIPT, contractAddress: `0x${'AB'.repeat(20)}` })).toMatchObject({
      contractAddress: `0x${'ab'.repeat(20)}`,
    });
  });

  it('a receipt of a chain before London, where the price is the one that was offered', () => {
    const { effectiveGasPrice: gasPrice, ...rest } = RECEIPT;
    expect(answer.receipt({ ...rest, gasPrice })).toMatchObject({ effectiveGasPrice: 1_000_000_007n });
  });

  it('a receipt without a block is none', () => expect(answer.receipt({ ...RECEIPT, blockHash: null })).toBeNull());

  it('a block, with and without a base fee', () => {
    const parentHash = `0x${'cd'.repeat(32)}`;
    expect(answer.block({ ...BLOCK, parentHash })).toMatchObject({
      number: 16,
      hash: HASH,
      parentHash,
      timestamp: 101,
      baseFeePerGas: 7n,
      transactionHashes: [HASH],
      listsAll: true,
    });
    expect(answer.block({ ...BLOCK, baseFeePerGas: undefined })).toMatchObject({ baseFeePerGas: null });
  });

  it('a block with a receipts root, and all the same one with none or with something else in its place', () => {
    expect(answer.block({ ...BLOCK, receiptsRoot: HASH.toUpperCase().replace('0X', '0x') }).receiptsRoot).toBe(HASH);
    for (const receiptsRoot of [undefined, null, '0x', 7])
      expect(answer.block({ ...BLOCK, receiptsRoot }).receiptsRoot).toBeNull();
  });

  const UNTOLD: readonly unknown[] = [undefined, null, '', '0x', '7', 7.5, -7, true, {}];

  it.each(['transactionIndex', 'gasUsed', 'effectiveGasPrice'] as const)(
    'a receipt whose %s is absent, null, empty or misshapen does not tell it, and says which field that is',
    (field) => {
      for (const value of UNTOLD) {
        const untold: string[] = [];
        const parsed = answer.receipt({ ...RECEIPT, [field]: value }, (name) => untold.push(name));
        expect([parsed?.[field], parsed?.status, untold]).toEqual([null, 'success', [`receipt.${field}`]]);
      }
    },
  );

  it('a receipt that created nothing, in all the ways in which nodes tell it', () => {
    for (const contractAddress of [...UNTOLD, ZEROS.slice(0, 42)])
      expect(answer.receipt({ ...RECEIPT, contractAddress })?.contractAddress).toBeNull();
  });

  it('a receipt in a block of zeros is none: it is a preconfirmation', () =>
    expect(answer.receipt({ ...RECEIPT, blockHash: ZEROS })).toBeNull());

  it('a block that tells no time, no base fee and no transactions', () => {
    for (const value of UNTOLD)
      expect(answer.block({ ...BLOCK, timestamp: value, baseFeePerGas: value, transactions: value })).toMatchObject({
        ...{ number: 16, hash: HASH, parentHash: HASH },
        ...{ timestamp: null, baseFeePerGas: null, transactionHashes: [], listsAll: false },
      });
  });

  it('a block with whole transactions, and with some that it does not tell', () =>
    expect(answer.block({ ...BLOCK, transactions: [{ hash: HASH }, null, '0x12', {}] })).toMatchObject({
      transactionHashes: [HASH],
      listsAll: false,
    }));

  it.each([
    ['0x5208', HASH, false],
    ['0x0', HASH, true],
    ['?', HASH, false],
    [undefined, undefined, false],
    // Ethermint: gas of what is no transaction of the EVM.
    ['0x5208', keccak256('0x80'), true],
  ])('a block that lists none, with gas %p and the root %p', (gasUsed, transactionsRoot, listsAll) =>
    expect(answer.block({ ...BLOCK, transactions: [], gasUsed, transactionsRoot })).toMatchObject({
      transactionHashes: [],
      listsAll,
    }),
  );

  it.each<[string, () => unknown]>([
    ['a receipt without status', () => answer.receipt({ ...RECEIPT, status: undefined })],
    ['a receipt with status 2', () => answer.receipt({ ...RECEIPT, status: '0x2' })],
    ['a receipt with status true', () => answer.receipt({ ...RECEIPT, status: true })],
    ['a receipt without the number of its block', () => answer.receipt({ ...RECEIPT, blockNumber: null })],
    ['a receipt with a short hash', () => answer.receipt({ ...RECEIPT, transactionHash: '0x12' })],
    ['a receipt that is a text', () => answer.receipt('0x1')],
    ['a block with a decimal number in a text', () => answer.block({ ...BLOCK, number: '16' })],
    ['a block number above 2^53', () => answer.block({ ...BLOCK, number: '0x20000000000001' })],
    ['a block without a hash', () => answer.block({ ...BLOCK, hash: null })],
    ['a block of zeros', () => answer.block({ ...BLOCK, hash: ZEROS })],
    ['a block without a parent', () => answer.block({ ...BLOCK, parentHash: '0x' })],
    ['a quantity without digits', () => answer.quantity('0x', 'x')],
    ['a quantity of more than 256 bits', () => answer.quantity(`0x${'f'.repeat(65)}`, 'x')],
    ['a decimal quantity', () => answer.quantity('12', 'x')],
    ['a quantity that JavaScript rounds', () => answer.quantity(2 ** 53, 'x')],
    ['no quantity', () => answer.quantity(null, 'x')],
  ])('%s is malformed', (_name, parse) => expect(parse).toThrow(answer.MalformedAnswer));
});
