import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockRef } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';

/**
 * Confirms heads that are too far above the followed blocks to read every block between. An endpoint may report such a head by
 * mistake, so a second observation must find it on the same chain.
 */
export class DistantHeads {
  /** The distant head of the latest observation. */
  private readonly latest = new Map<ChainId, BlockRef>();

  /** @returns whether the distant head of the observation before is still canonical, and not above this one */
  async isConfirmed(chain: Pick<ChainConnector, 'chainId' | 'blocks'>, head: BlockRef): Promise<boolean> {
    const earlier = this.latest.get(chain.chainId);
    this.latest.set(chain.chainId, head);
    if (earlier === undefined || earlier.number > head.number) return false;
    const [canonical] = await chain.blocks([earlier.number]);
    return canonical?.hash === earlier.hash;
  }

  /** The next distant head needs two observations again. */
  clear(chainId: ChainId): void {
    this.latest.delete(chainId);
  }
}
