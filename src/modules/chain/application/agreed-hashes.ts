import type { Hash } from '../../../kernel/hex.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import type { Agreed } from '../domain/evidence.js';

/** Canonical hashes by height, as far as the endpoints agree. Each height is asked for once. */
export async function agreedHashes(
  chain: Pick<ChainConnector, 'agreedBlocks'>,
  heights: readonly number[],
): Promise<ReadonlyMap<number, Agreed<Hash>>> {
  const distinct = [...new Set(heights)];
  const answers = await chain.agreedBlocks(distinct);
  return new Map(
    distinct.flatMap((height, index): [number, Agreed<Hash>][] => {
      const answer = answers[index];
      return answer ? [[height, answer]] : [];
    }),
  );
}
