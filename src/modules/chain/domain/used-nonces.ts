import type { Address } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from './block.js';

/** Nonces of an account that were used for good. */
export interface UsedNonces {
  readonly account: Address;
  /** All nonces below it that we gave out are used. */
  readonly below: Nonce;
  /** Number of the block in which the highest of them was used; 0 when it is not known. */
  readonly from: number;
}

/** What the endpoints say about them. */
export interface UsedCount {
  /** Null when it is not known: too few endpoints answered, or they do not agree. */
  readonly isLower: boolean | null;
  /** The lowest count that an endpoint told; null when none did. */
  readonly count: Nonce | null;
  /** A head block of the endpoints that answered; null when none did. */
  readonly block: BlockRef | null;
}
