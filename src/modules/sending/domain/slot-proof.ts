import { sameSigner } from '../../../kernel/signer-id.js';
import type { Attempt } from '../../transactions/index.js';

type InSlot = Pick<Attempt, 'signer' | 'nonce' | 'txHash'>;

/**
 * Whether other bytes with the nonce of `refused` may have reached a node. Every attempt may have, except one that all nodes refused
 * (docs/invariants.md, I6). The slot may go to another payload only if there is no such attempt.
 */
export function anotherMayBeOut(refused: InSlot, known: readonly (InSlot & Pick<Attempt, 'status'>)[]): boolean {
  return known.some(
    ({ txHash, nonce, signer, status }) =>
      txHash !== refused.txHash &&
      nonce === refused.nonce &&
      sameSigner(signer, refused.signer) &&
      status !== 'REJECTED',
  );
}
