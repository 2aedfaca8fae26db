import type { Address, Hash } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef, Receipt } from './block.js';

/** A nonce of an account, and every transaction of ours that could be the one that uses it. */
export interface NonceQuestion {
  readonly account: Address;
  readonly nonce: Nonce;
  readonly hashes: readonly Hash[];
}

/** The transaction by which an account used a nonce. */
export interface NonceUser {
  readonly txHash: Hash;
  readonly block: BlockRef;
}

/** What the chain says about a nonce. */
export type NonceUse =
  /** One of ours was mined with it. */
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** A block has one of ours with it, whatever is said of receipts. */
  | { readonly kind: 'ours'; readonly block: BlockRef }
  /**
   * Every configured endpoint of the right chain has mined past the nonce, and none has a receipt of ours. `head` is a block by which that had
   * happened: as long as it may be reorganised away it proves nothing. `user` is the transaction that took the nonce, when the
   * chain could name it.
   */
  | { readonly kind: 'passed'; readonly head: BlockRef; readonly user: NonceUser | null }
  | { readonly kind: 'open' };
