import { blocks, changing, type Family, receipts, without } from './family.js';

export const moonbeam: Family = {
  name: 'Moonbeam (Frontier), Godwoken, Oasis',
  source:
    'https://github.com/polkadot-evm/frontier (headers without mix hash, author); contractAddress "0x": godwoken-web3#275',
  quirks: {
    ...blocks((block) => ({ ...without(block, 'mixHash', 'withdrawals', 'withdrawalsRoot'), author: block['miner'] })),
    ...receipts((receipt) => (receipt['to'] ? { ...receipt, contractAddress: '0x' } : { ...receipt, to: '' })),
    eth_feeHistory: changing((history) => ({ ...history, reward: null })),
  },
};
