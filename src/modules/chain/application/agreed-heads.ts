import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockRef } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import { isLaterObservation, observationsNeeded } from '../domain/evidence.js';

/** What one endpoint alone told of its head. */
interface Told {
  /** Told once; it is proven when a later block is told on top of it. */
  readonly head: BlockRef;
  /** Told before the head, and told again with it. */
  readonly proven: BlockRef | null;
}

/** One answer. */
interface Answer {
  readonly block: BlockRef;
  readonly isAlone: boolean;
  /** Of the known blocks, those that are told again; null for one that is not. */
  readonly head: BlockRef | null;
  readonly proven: BlockRef | null;
}

type Asked = Pick<ChainConnector, 'chainId' | 'agreedBlocks'>;

/**
 * The newest block of each chain that the endpoints agree on, by the evidence of `make_final`: whatever is deep enough below it is deep
 * enough for all of them. A head that one endpoint tells alone is proven when a later block is told with it; finality comes a block
 * later there.
 */
export class AgreedHeads {
  private readonly told = new Map<ChainId, Told>();

  /**
   * @param head the newest block that was told; the one before it is asked for, too, since others may be a moment behind
   * @returns null when it is not known
   */
  async newest(chain: Asked, head: number): Promise<BlockRef | null> {
    const answer = (await this.ask(chain, head)) ?? (head > 0 ? await this.ask(chain, head - 1) : null);
    if (answer === null) return null;
    if (observationsNeeded('make_final', answer.isAlone) === 1) {
      this.told.delete(chain.chainId);
      return answer.block;
    }
    const told = this.toldWith(answer);
    this.told.set(chain.chainId, told);
    return told.proven;
  }

  private async ask(chain: Asked, number: number): Promise<Answer | null> {
    const { head = null, proven = null } = this.told.get(chain.chainId) ?? {};
    const [told, again, provenAgain] = await chain.agreedBlocks([
      number,
      ...(head ? [head.number] : []),
      ...(proven ? [proven.number] : []),
    ]);
    if (!told) return null;
    return {
      block: { number, hash: told.value },
      isAlone: told.isAlone,
      head: head !== null && again?.value === head.hash ? head : null,
      proven: proven !== null && provenAgain?.value === proven.hash ? proven : null,
    };
  }

  private toldWith({ block, head, proven }: Answer): Told {
    if (head === null) return { head: block, proven };
    return isLaterObservation(head, block) ? { head: block, proven: head } : { head, proven };
  }
}
