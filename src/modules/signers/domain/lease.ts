import type { SignerId } from '../../../kernel/signer-id.js';

/**
 * The exclusive right of one node to act for one signer, as the database granted it. This value proves nothing: only the fence does, which
 * the database checks in the same transaction as the write.
 */
export interface Lease {
  readonly signer: SignerId;
  readonly owner: string;
  /** The fencing token. It grows with every change of owner. */
  readonly token: bigint;
}
