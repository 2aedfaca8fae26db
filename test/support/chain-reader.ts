import { JsonRpcProvider } from 'ethers';

export interface ChainTx {
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
  readonly input: string;
}

interface RawTx {
  readonly hash: string;
  readonly from: string;
  readonly nonce: string;
  readonly input: string;
}

/** Everything that really is on chain, read block by block: the only witness that counts. */
export async function readChain(rpcUrl: string): Promise<ChainTx[]> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 });
  try {
    const head = await provider.getBlockNumber();
    const numbers = Array.from({ length: head + 1 }, (_, number) => number);
    const blocks: { transactions: RawTx[] }[] = await Promise.all(
      numbers.map((number) => provider.send('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])),
    );
    return blocks.flatMap(({ transactions }) =>
      transactions.map(({ hash, from, nonce, input }) => ({ hash, from, nonce: Number(nonce), input })),
    );
  } finally {
    provider.destroy();
  }
}

/** How often each payload is on chain, by its unique call data. */
export function countByInput(txs: readonly ChainTx[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { input } of txs) counts.set(input, (counts.get(input) ?? 0) + 1);
  return counts;
}
