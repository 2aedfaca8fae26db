import { answering, changing, type Family, type Fields } from './family.js';

const GWEI = '0x3b9aca00';

export const bsc: Family = {
  name: 'BNB Smart Chain',
  source:
    'https://docs.bnbchain.org/bnb-smart-chain/developers/json_rpc/ (base fee 0, a least gas price, finality in two blocks)',
  anvil: ['--base-fee', '0', '--slots-in-an-epoch', '1'],
  config: { confirmations: { finality: 'finalized' } },
  quirks: {
    eth_gasPrice: answering(GWEI),
    eth_maxPriorityFeePerGas: answering(GWEI),
    eth_feeHistory: changing((history) => ({
      ...history,
      baseFeePerGas: (history['baseFeePerGas'] as string[]).map(() => '0x0'),
      reward: (history['reward'] as Fields[][] | undefined)?.map((row) => row.map(() => GWEI)),
    })),
  },
};
