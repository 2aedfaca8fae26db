import { Transaction } from 'ethers';
import type { Quirk } from '../support/chain-facade.js';
import { answering, changing, type Family, type Fields, hex, refusing, unsupported } from './family.js';

const PRICE = '0x989680000';

/**
 * There is no pool: what has not the next nonce is refused, and what was taken has used its nonce. A nonce counts as used for the next one only when
 * a block has it, so that it makes no difference whether sends that come at once are looked at before or after one of them is taken.
 */
const send: Quirk = async ({ params }, ask) => {
  const { from, nonce } = Transaction.from(String(params[0]));
  const count = async (block: 'latest' | 'pending'): Promise<number> => {
    const answer = await ask({ method: 'eth_getTransactionCount', params: [from, block] });
    return 'result' in answer ? Number(answer.result) : 0;
  };
  const [mined, taken] = [await count('latest'), await count('pending')];
  if (nonce > mined) return refusing(32_002, `Nonce too high. Provided nonce: ${nonce}, current nonce: ${mined}`);
  if (nonce < taken) return refusing(32_001, `Nonce too low. Provided nonce: ${nonce}, current nonce: ${taken}`);
  return ask();
};

/** The first transaction of a block stands in it twice; the copy failed and used nothing. */
const twice: Quirk = async (_call, ask) => {
  const answer = await ask();
  const all = 'result' in answer ? (answer.result as Fields[] | null) : null;
  const [first] = all ?? [];
  if (!all || !first) return answer;
  return { result: [...all, { ...first, status: '0x0', gasUsed: '0x0', transactionIndex: hex(all.length) }] };
};

export const hedera: Family = {
  name: 'Hedera (relay), Cronos',
  source:
    'https://docs.hedera.com/hedera/core-concepts/smart-contracts/json-rpc-relay (one price, no pool, duplicate transactions)',
  hasNoPool: true,
  quirks: {
    eth_sendRawTransaction: send,
    eth_getBlockReceipts: twice,
    eth_gasPrice: answering(PRICE),
    eth_maxPriorityFeePerGas: answering('0x0'),
    eth_feeHistory: changing((history) => ({
      ...history,
      baseFeePerGas: (history['baseFeePerGas'] as string[]).map(() => PRICE),
      reward: (history['reward'] as Fields[][] | undefined)?.map((row) => row.map(() => '0x0')),
    })),
    eth_getBlockByNumber: changing((block) => ({ ...block, baseFeePerGas: PRICE })),
    eth_getBlockByHash: changing((block) => ({ ...block, baseFeePerGas: PRICE })),
    txpool_contentFrom: unsupported,
  },
};
