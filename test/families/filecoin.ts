import { type Family, type Fields, hex, receipts, refusing } from './family.js';
import type { Asked, Quirk } from '../support/chain-facade.js';

/** Every third epoch has no block: the block behind it names the one before as its parent. */
const NULL_EVERY = 3n;

const isNullRound = (epoch: bigint): boolean => epoch % NULL_EVERY === NULL_EVERY - 1n;
/** Two blocks for three epochs. */
const epochOf = (block: bigint): bigint => (block / (NULL_EVERY - 1n)) * NULL_EVERY + (block % (NULL_EVERY - 1n));
const blockOf = (epoch: bigint): bigint => (epoch / NULL_EVERY) * (NULL_EVERY - 1n) + (epoch % NULL_EVERY);

const shown = (height: unknown): unknown => (typeof height === 'string' ? hex(epochOf(BigInt(height))) : height);

function renumbered(of: Fields): Fields {
  const transactions = of['transactions'];
  return {
    ...of,
    ...('number' in of ? { number: shown(of['number']) } : {}),
    ...('blockNumber' in of ? { blockNumber: shown(of['blockNumber']) } : {}),
    ...(Array.isArray(transactions)
      ? { transactions: transactions.map((tx: unknown) => (typeof tx === 'object' ? renumbered(tx as Fields) : tx)) }
      : {}),
  };
}

const isHeight = (value: unknown): value is string => typeof value === 'string' && /^0x[\da-f]{1,16}$/i.test(value);

/** The same question about the block that the node has at this height. */
function asBlock({ params }: Asked): readonly unknown[] {
  return params.map((value, index) =>
    (index > 0 || params.length === 1) && isHeight(value) ? hex(blockOf(BigInt(value))) : value,
  );
}

const ofBlock: Quirk = async ({ method, params }, ask) => {
  const [height, full] = params;
  if (isHeight(height) && isNullRound(BigInt(height)))
    return refusing(12, `requested epoch was a null round (${BigInt(height)})`);
  const answer = await ask({ method, params: isHeight(height) ? [hex(blockOf(BigInt(height))), full] : params });
  return 'result' in answer && answer.result !== null ? { result: renumbered(answer.result as Fields) } : answer;
};

const atHeight: Quirk = (call, ask) => ask({ params: asBlock(call) });

export const filecoin: Family = {
  name: 'Filecoin',
  source:
    'https://docs.filecoin.io/smart-contracts/advanced/difference-with-ethereum (null rounds: filecoin-project/lotus#10391)',
  quirks: {
    ...receipts(renumbered),
    eth_blockNumber: async (_call, ask) => {
      const answer = await ask();
      return 'result' in answer ? { result: shown(answer.result) } : answer;
    },
    eth_getBlockByNumber: ofBlock,
    eth_getBlockByHash: ofBlock,
    eth_getTransactionByHash: async (_call, ask) => {
      const answer = await ask();
      return 'result' in answer && answer.result !== null ? { result: renumbered(answer.result as Fields) } : answer;
    },
    eth_getBlockReceipts: async ({ params }, ask) => {
      const [height] = params;
      const answer = await ask({ params: [isHeight(height) ? hex(blockOf(BigInt(height))) : height] });
      return 'result' in answer && answer.result !== null
        ? { result: (answer.result as Fields[]).map(renumbered) }
        : answer;
    },
    eth_getTransactionCount: atHeight,
    eth_getBalance: atHeight,
    eth_getCode: atHeight,
    eth_feeHistory: ({ params: [count, newest, percentiles] }, ask) =>
      ask({ params: [count, isHeight(newest) ? hex(blockOf(BigInt(newest))) : newest, percentiles] }),
  },
};
