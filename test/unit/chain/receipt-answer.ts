import { parseHash } from '../../../src/kernel/hex.js';

export const hashOf = (digit: string) => parseHash(`0x${digit.repeat(64)}`);
export const BLOCK = hashOf('a');
export const OTHER_BLOCK = hashOf('b');

/** As a node tells the receipt of a transaction; of the block, with nothing to prove it by. */
export const receiptAnswer = (txHash: unknown, blockHash: string = BLOCK) => ({
  transactionHash: txHash,
  blockNumber: '0x5',
  blockHash,
  transactionIndex: '0x0',
  status: '0x1',
  gasUsed: '0x1',
  effectiveGasPrice: '0x1',
});
