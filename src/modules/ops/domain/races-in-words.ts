import type { TxFacts } from './tx-facts.js';

/** What is said of a tx in one state or sub state. */
export interface Words {
  readonly why: string;
  readonly next: string;
  readonly operator?: readonly string[];
  /** Without a time: something else than the timer of the tx comes first. */
  readonly isUntimed?: boolean;
}

/** A tx whose slot a no-op closes. */
export function closing({ nonce, failureReason, noOpSignedAt, price }: TxFacts): Words {
  const reason = failureReason === null ? '' : ` (${failureReason})`;
  if (noOpSignedAt === null && price === null)
    return {
      why: `is not wanted any more${reason}, and no RPC endpoint tells what a no-op costs that competes with it for nonce ${nonce}`,
      next: 'the node that owns its signer signs and sends a no-op with this nonce, as soon as there is a price',
      operator: ['See /health/ready, and the state of the RPC endpoints in the facts.'],
    };
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

/** A tx whose payload the nodes refused: a no-op closes its slot. */
export function refused({ nonce, lastError, failureReason, noOpSignedAt }: TxFacts): Words {
  const said = failureReason ?? lastError;
  const words = said === null ? '' : ` ("${said}")`;
  const end = failureReason === null ? 'its payload gets another nonce' : 'it is FAILED';
  const noOp = noOpSignedAt === null ? 'a no-op will compete' : `a no-op competes since ${noOpSignedAt}`;
  return {
    why: `was refused by every RPC endpoint${words}, and a node may have kept its bytes all the same: ${noOp} with it for nonce ${nonce}`,
    next: `if the no-op is mined, ${end} when that block is final; if its payload is mined, it goes on as mined`,
  };
}

/** A tx in a race with others for one slot, which is not sent itself. */
export function racing({ state, nonce, replacedBy, failureReason, noOpSignedAt }: TxFacts): Words {
  if (state === 'PENDING')
    return {
      why: 'waits for its race with the transaction that it replaces',
      next: 'the node that owns its signer signs and sends it with the same nonce, or says why not',
      isUntimed: true,
    };
  // With a no-op it is one that its client cancelled.
  if (failureReason !== null && noOpSignedAt === null)
    return {
      why: `rests: every RPC endpoint refused it ("${failureReason}"), and what it replaces is sent again with nonce ${nonce}`,
      next: 'it is FAILED when another transaction with its nonce is final; if it is mined all the same, it goes on as mined',
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
