import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from './block.js';

/** A transaction count that rests on more than one endpoint, where there is more than one. */
export interface AgreedCount {
  /** The lowest of all that were told: one that is too high never wins. */
  readonly nonce: Nonce;
  /** A head block of those who told. Two looks with the same block are one look. */
  readonly block: BlockRef;
}
