import type { Nonce } from '../../../kernel/signer-id.js';

/**
 * Which nonces of one signer a pool had in time for a block: those that it had when the block before was recorded. A nonce that was sent later may
 * have come too late for the block, and that the block left it says nothing about the chain.
 */
export class OfferedNonces {
  private sentUpTo = -1n;
  /** In time for the last block, and for the next one. */
  private upTo = -1n;
  private nextUpTo = -1n;
  private lastBlock = -1;

  /** A pool took this one, or may have. */
  sent(nonce: Nonce): void {
    if (nonce > this.sentUpTo) this.sentUpTo = nonce;
  }

  /**
   * A block is recorded, or a part of it.
   * @param highest nonce of the signer in it
   * @returns how many it left although a pool had them in time
   */
  leftBy(block: number, highest: Nonce): number {
    this.sent(highest);
    if (block > this.lastBlock) {
      this.lastBlock = block;
      this.upTo = this.nextUpTo;
      this.nextUpTo = this.sentUpTo;
    }
    return Number(this.upTo > highest ? this.upTo - highest : 0n);
  }
}
