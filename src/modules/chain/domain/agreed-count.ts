import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from './block.js';

/** A transaction count from more than one endpoint, if the chain has more than one. */
export interface AgreedCount {
  /** The lowest count of all answers: a count that is too high never wins. */
  readonly nonce: Nonce;
  /** A head block of the endpoints that answered. Two observations at the same block count as one. */
  readonly block: BlockRef;
}
