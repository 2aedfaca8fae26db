import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockRef } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import { isLaterObservation, observationsNeeded } from '../domain/evidence.js';

/** The heads that only one endpoint reported. */
interface HeadsOfOne {
  /** Observed once; proven when the endpoint later reports another block on top of it. */
  readonly head: BlockRef;
  /** Observed before `head`, and again together with it. */
  readonly proven: BlockRef | null;
}

/** One observation. */
interface Observation {
  readonly block: BlockRef;
  readonly isAlone: boolean;
  /** The earlier blocks that are still canonical in this observation; null for a block that is not. */
  readonly head: BlockRef | null;
  readonly proven: BlockRef | null;
}

type Asked = Pick<ChainConnector, 'chainId' | 'agreedBlocks'>;

/**
 * The newest block of each chain that the endpoints agree on, with the evidence of `make_final`: depth is counted from this block. A
 * head that only one endpoint reports is proven when the endpoint reports a later block on top of it, so finality comes one block later.
 */
export class AgreedHeads {
  private readonly ofOne = new Map<ChainId, HeadsOfOne>();

  /**
   * @param head the newest followed block; when it is not agreed on, the block before it is asked for, since other endpoints may be one
   *   block behind
   * @returns null when it is not known
   */
  async newest(chain: Asked, head: number): Promise<BlockRef | null> {
    const observation = (await this.observe(chain, head)) ?? (head > 0 ? await this.observe(chain, head - 1) : null);
    if (observation === null) return null;
    if (observationsNeeded('make_final', observation.isAlone) === 1) {
      this.ofOne.delete(chain.chainId);
      return observation.block;
    }
    const heads = headsAfter(observation);
    this.ofOne.set(chain.chainId, heads);
    return heads.proven;
  }

  private async observe(chain: Asked, number: number): Promise<Observation | null> {
    const { head = null, proven = null } = this.ofOne.get(chain.chainId) ?? {};
    const [agreed, headNow, provenNow] = await chain.agreedBlocks([
      number,
      ...(head ? [head.number] : []),
      ...(proven ? [proven.number] : []),
    ]);
    if (!agreed) return null;
    return {
      block: { number, hash: agreed.value },
      isAlone: agreed.isAlone,
      head: head !== null && headNow?.value === head.hash ? head : null,
      proven: proven !== null && provenNow?.value === proven.hash ? proven : null,
    };
  }
}

function headsAfter({ block, head, proven }: Observation): HeadsOfOne {
  if (head === null) return { head: block, proven };
  return isLaterObservation(head, block) ? { head: block, proven: head } : { head, proven };
}
