import { answering, blocks, changing, costing, type Family, type Fields, receipts } from './family.js';

const PRICE = '0x2b275d0';

export const zksync: Family = {
  name: 'zkSync Era',
  source: 'https://docs.zksync.io/zksync-protocol/api (fee history, fields of batches, gas of a plain transfer)',
  quirks: {
    ...blocks((block) => ({
      ...block,
      l1BatchNumber: null,
      l1BatchTimestamp: null,
      baseFeePerGas: PRICE,
      mixHash: `0x${'0'.repeat(64)}`,
      receiptsRoot: `0x${'0'.repeat(64)}`,
    })),
    ...receipts((receipt) => ({
      ...receipt,
      l1BatchNumber: null,
      l1BatchTxIndex: null,
      l2ToL1Logs: [],
      root: receipt['blockHash'],
    })),
    eth_getTransactionByHash: changing((tx) => ({ ...tx, l1BatchNumber: null, l1BatchTxIndex: null })),
    eth_maxPriorityFeePerGas: answering('0x0'),
    eth_gasPrice: answering(PRICE),
    eth_feeHistory: changing((history) => ({
      ...history,
      baseFeePerGas: (history['baseFeePerGas'] as string[]).map(() => PRICE),
      gasUsedRatio: (history['gasUsedRatio'] as number[]).map(() => 0),
      reward: (history['reward'] as Fields[][] | undefined)?.map((row) => row.map(() => '0x0')),
    })),
    // Also a plain transfer costs far more than 21,000.
    eth_estimateGas: costing(130_000n),
  },
  anvil: ['--base-fee', '1'],
};
