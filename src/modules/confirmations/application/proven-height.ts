import type { Hash } from '../../../kernel/hex.js';
import { type ChainConnector, STRIDE } from '../../chain/index.js';

/**
 * The highest of these heights at which the endpoints of the chain agree on the block that we followed, by the evidence of
 * `make_final`; blocks are linked by hash, so everything below it is proven, too. -1 when there is none, or it is not known.
 *
 * @param canonical the hashes that we followed, by height
 */
export async function provenHeight(chain: ChainConnector, canonical: ReadonlyMap<number, Hash>): Promise<number> {
  const heights = [...canonical.keys()].sort((a, b) => b - a);
  const [highest, ...others] = heights;
  if (highest === undefined) return -1;
  // The highest alone, mostly: an endpoint that lags may not have it yet, and knows those below.
  for (const asked of [[highest], others.slice(0, STRIDE)]) {
    const agreed = asked.length === 0 ? [] : await chain.agreedBlocks(asked);
    const proven = asked.find((height, index) => agreed[index] != null && agreed[index] === canonical.get(height));
    if (proven !== undefined) return proven;
  }
  return -1;
}
