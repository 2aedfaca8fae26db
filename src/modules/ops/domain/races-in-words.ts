import type { TxFacts } from './tx-facts.js';
import type { Words } from './words.js';

/** A tx whose slot a no-op closes. */
export function closing({ nonce, failureReason, noOpSignedAt }: TxFacts): Words {
  const reason = failureReason === null ? '' : ` (${failureReason})`;
  if (noOpSignedAt === null)
    return {
      why: `is not wanted any more${reason}: a no-op will compete with it for nonce ${nonce}`,
      next: 'the node that owns its signer signs and sends a no-op with this nonce',
    };
  return {
    why: `competes with a no-op for nonce ${nonce} since ${noOpSignedAt}${reason}: if the no-op is mined, its payload is not executed`,
    next: 'one of the two is mined, and decides when its block is final',
  };
}

/** A tx in a race with others for one slot, which is not sent itself. */
export function racing({ state, nonce, replacedBy }: TxFacts): Words {
  if (state === 'PENDING')
    return {
      why: 'waits for its race with the transaction that it replaces',
      next: 'the node that owns its signer signs and sends it with the same nonce, or says why not',
      isUntimed: true,
    };
  if (replacedBy === null)
    return {
      why: `rests: another transaction with nonce ${nonce} is in a block`,
      next: 'it ends when that block is final; if a reorg comes first, it competes again',
    };
  return {
    why: `rests: its replacement ${replacedBy} competes with it for nonce ${nonce}, and the one of the two that is mined decides`,
    next: 'one of the two is mined',
  };
}
