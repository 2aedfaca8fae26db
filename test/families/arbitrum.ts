import { answering, blocks, changing, costing, type Family, type Fields, receipts } from './family.js';

export const arbitrum: Family = {
  name: 'Arbitrum (Nitro)',
  source: 'https://docs.arbitrum.io/build-decentralized-apps/arbitrum-vs-ethereum/rpc-methods',
  quirks: {
    ...blocks((block) => ({
      ...block,
      l1BlockNumber: '0x1234',
      sendCount: '0x1',
      sendRoot: `0x${'0a'.repeat(32)}`,
      mixHash: `0x${'0b'.repeat(32)}`,
      difficulty: '0x1',
    })),
    ...receipts((receipt) => ({ ...receipt, gasUsedForL1: '0x2f4', l1BlockNumber: '0x1234', timeboosted: false })),
    eth_maxPriorityFeePerGas: answering('0x0'),
    // Tips are not paid; their percentiles are zeros.
    eth_feeHistory: changing((history) => ({
      ...history,
      reward: (history['reward'] as Fields[][] | undefined)?.map((row) => row.map(() => '0x0')),
      gasUsedRatio: (history['gasUsedRatio'] as number[]).map(() => 0.02),
    })),
    // The gas for L1 data comes on top of what the call uses.
    eth_estimateGas: costing(4_000n),
  },
};
