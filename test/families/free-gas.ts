import { answering, blocks, type Family, unsupported, without } from './family.js';

export const freeGas: Family = {
  name: 'Besu and Quorum with free gas',
  source: 'https://besu.hyperledger.org/private-networks/how-to/configure/free-gas',
  anvil: ['--hardfork', 'berlin', '--gas-price', '0'],
  quirks: {
    ...blocks((block) => without(block, 'baseFeePerGas')),
    eth_gasPrice: answering('0x0'),
    eth_feeHistory: unsupported,
    eth_maxPriorityFeePerGas: unsupported,
    eth_getBlockReceipts: unsupported,
  },
};
