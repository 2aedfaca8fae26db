import { blocks, changing, type Family, receipts, unsupported, without } from './family.js';

export const celo: Family = {
  name: 'Celo before its L2, Polygon zkEVM, old BSC',
  source:
    'https://github.com/celo-org/celo-blockchain (receipts without a price; headers without gas limit, difficulty, nonce)',
  quirks: {
    ...blocks((block) =>
      without(block, 'gasLimit', 'difficulty', 'nonce', 'sha3Uncles', 'uncles', 'receiptsRoot', 'mixHash'),
    ),
    ...receipts((receipt) => ({ ...without(receipt, 'effectiveGasPrice', 'gasPrice'), logs: receipt['logs'] })),
    eth_getBlockReceipts: unsupported,
    eth_getTransactionByHash: changing((tx) => ({
      ...tx,
      feeCurrency: null,
      gatewayFee: '0x0',
      gatewayFeeRecipient: null,
    })),
  },
  untold: ['effectiveGasPrice'],
};
