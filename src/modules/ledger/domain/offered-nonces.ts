import type { Nonce } from '../../../kernel/signer-id.js';

interface Sent {
  upTo: Nonce;
  readonly atMs: number;
}

const MOST_SENDS = 1_000;

/**
 * Which nonces of one signer a pool had in time for a block: those that it had when the chain was last asked for its head, and did not have the
 * block. A nonce that was sent later may have come too late for the block, and that the block left it says nothing about the chain. When the block
 * before was recorded does not count: a busy node records it after the next one was built.
 */
export class OfferedNonces {
  /** What was sent since the last look that counts, in the order of nonces. */
  private sends: Sent[] = [];
  private highestSent = -1n;
  /** In time for the last block. */
  private upTo = -1n;
  private lastBlock = -1;

  /**
   * A pool took this one, or may have.
   * @param atMs monotonic milliseconds, as of all times here
   */
  sent(nonce: Nonce, atMs: number): void {
    if (nonce <= this.highestSent) return;
    this.highestSent = nonce;
    const last = this.sends.at(-1);
    if (last?.atMs === atMs) last.upTo = nonce;
    else this.sends.push({ upTo: nonce, atMs });
    // Where no block is recorded. What is forgotten counts with what was sent after it.
    if (this.sends.length > MOST_SENDS) this.sends.shift();
  }

  /**
   * A block is recorded, or a part of it.
   * @param highest nonce of the signer in it
   * @param withoutAtMs when the chain was last asked for its head, and did not have the block; null when nobody knows
   * @returns how many it left although a pool had them in time
   */
  leftBy(block: number, highest: Nonce, withoutAtMs: number | null): number {
    if (block > this.lastBlock && withoutAtMs !== null) {
      this.lastBlock = block;
      const late = this.sends.findIndex(({ atMs }) => atMs > withoutAtMs);
      const inTime = this.sends.splice(0, late < 0 ? this.sends.length : late);
      this.upTo = inTime.at(-1)?.upTo ?? this.upTo;
    }
    return Number(this.upTo > highest ? this.upTo - highest : 0n);
  }
}
