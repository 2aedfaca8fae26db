import type { Family } from './family.js';

export const ethereum: Family = {
  name: 'Ethereum, Sepolia, Gnosis',
  source: 'https://ethereum.github.io/execution-apis/',
  quirks: {},
  anvil: ['--slots-in-an-epoch', '1'],
  config: { confirmations: { finality: 'finalized' } },
};
