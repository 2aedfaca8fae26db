import { type Family, type Fields, receipts, withSystemTx } from './family.js';

const DEPOSIT = `0x${'d0'.repeat(32)}`;

/** Each block begins with the deposit of the L1 attributes. It has no price, and its receipt has a nonce. */
const deposit: Fields = {
  type: '0x7e',
  sourceHash: `0x${'5a'.repeat(32)}`,
  from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
  to: '0x4200000000000000000000000000000000000015',
  mint: '0x0',
  value: '0x0',
  gas: '0xf4240',
  gasPrice: '0x0',
  isSystemTx: false,
  nonce: '0x1',
};

const fees = receipts((receipt) => ({
  ...receipt,
  l1BaseFeeScalar: '0x8dd',
  l1BlobBaseFee: '0x1',
  l1BlobBaseFeeScalar: '0x101c12',
  l1Fee: '0x5f5e100',
  l1GasPrice: '0x3b9aca00',
  l1GasUsed: '0x640',
}));

export const opStack: Family = {
  name: 'OP stack (OP, Base, Unichain, Worldchain, Blast, Mantle)',
  source: 'https://specs.optimism.io/protocol/deposits.html',
  quirks: {
    ...fees,
    ...withSystemTx('first', DEPOSIT, deposit),
    eth_getBlockReceipts: async (_call, ask) => {
      const answer = await ask();
      if (!('result' in answer) || answer.result === null) return answer;
      const own = (answer.result as Fields[]).map((receipt) => ({ ...receipt, l1Fee: '0x5f5e100' }));
      const system = {
        transactionHash: DEPOSIT,
        type: '0x7e',
        status: '0x1',
        depositNonce: '0x1',
        gasUsed: '0xb41a',
        transactionIndex: '0x0',
      };
      const [first] = own as Fields[];
      return { result: first ? [{ ...first, ...system }, ...own] : own };
    },
  },
};
