import { sameSigner } from '../../../kernel/signer-id.js';
import type { Attempt } from '../../transactions/index.js';

type InSlot = Pick<Attempt, 'signer' | 'nonce' | 'txHash'>;

/**
 * Whether other bytes with the nonce of `refused` may have reached a node: every attempt may but one that all nodes refused (I6). Only
 * without such an attempt may the slot go to another payload.
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
