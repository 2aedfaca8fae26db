import type { Address, Hash } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef, Receipt } from './block.js';
import type { SentTransaction } from './sent-transaction.js';

/** A nonce of an account, and every transaction of ours that may have used it. */
export interface NonceQuestion {
  readonly account: Address;
  readonly nonce: Nonce;
  readonly hashes: readonly Hash[];
}

/** The transaction that used a nonce. */
export interface NonceUser {
  readonly txHash: Hash;
  readonly block: BlockRef;
  /** Null when it is of no type that Lockstep signs, or the answer about it is broken. */
  readonly sent: SentTransaction | null;
}

/** How a nonce was used, as far as the endpoints know. */
export type NonceUse =
  /** A transaction of ours was mined with it. */
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /** A block has a transaction of ours with it, although its receipt is missing. */
  | { readonly kind: 'ours'; readonly block: BlockRef }
  /**
   * Every configured endpoint of the right chain has a higher transaction count than the nonce, and none has a receipt of ours. This
   * was so at the block `head`, and proves nothing as long as a reorg may replace that block. `user` is the foreign transaction that
   * used the nonce, when an endpoint could name it.
   */
  | { readonly kind: 'passed'; readonly head: BlockRef; readonly user: NonceUser | null }
  /** Not known. `isFree`: all endpoints that answer tell that the nonce is not used. */
  | { readonly kind: 'open'; readonly isFree?: true };
