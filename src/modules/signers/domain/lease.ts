import type { SignerId } from '../../../kernel/signer-id.js';

/**
 * The exclusive right of one node to act for one signer, as the database granted it. Holding this value proves nothing:
 * only the fence, checked by the database in the same transaction as the write, does.
 */
export interface Lease {
  readonly signer: SignerId;
  readonly owner: string;
  /** Grows with every change of holder. */
  readonly token: bigint;
}
