import type { Address, Hash } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockHeader, Receipt } from './block.js';

/** A nonce of an account, and every transaction of ours that could be the one that uses it. */
export interface SlotQuestion {
  readonly account: Address;
  readonly nonce: Nonce;
  readonly hashes: readonly Hash[];
}

/** What the chain says about a nonce. */
export type SlotFate =
  /** One of ours was mined with it. */
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  /**
   * Every usable endpoint has mined past the nonce, and none has a receipt of ours. `head` is a block by which that had
   * happened: as long as it may be reorganised away it proves nothing.
   */
  | { readonly kind: 'passed'; readonly head: Pick<BlockHeader, 'number' | 'hash'> }
  | { readonly kind: 'open' };
