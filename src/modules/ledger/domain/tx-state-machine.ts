import { type TxState } from '../../../kernel/tx-state.js';

export { TX_STATES, type TxState } from '../../../kernel/tx-state.js';

/** Why a tx makes no progress; null when it does. */
export const TX_SUB_STATES = [
  'NONCE_SYNC',
  'STALE',
  'FEE_CAPPED',
  'INSUFFICIENT_FUNDS',
  'OUTCOME_UNKNOWN',
  'CANCELLING',
  /** Nodes refused its payload, which may be out all the same: a no-op with its nonce competes with it. */
  'REFUSED',
  'REPLACING',
  'REORG_DETECTED',
  /** An operator paused its signer. Not stored, because a pause changes no tx: the queries add it. */
  'SIGNER_PAUSED',
  /** Every node refuses it for now, for a reason other than price or funds. It is tried again. */
  'NODE_REFUSED',
  /** The pools have no room: for more txs of its signer, or for any. It keeps its nonce, and is sent again when there is room. */
  'POOL_LIMIT',
  /** No node answers. It is tried again. */
  'NODE_UNAVAILABLE',
  /** Its gas estimate reverts. It is estimated again at a later block, and fails only if that estimate reverts, too. */
  'SIMULATION_REVERTED',
  /** Its custody does not sign. Also, but not stored: no live node has the key of its signer; the queries add that. */
  'SIGNER_UNAVAILABLE',
  /** The daily amounts of its signer have no room for it. It is tried again. */
  'POLICY_HELD',
  /** Operators stopped its account. It is tried again when the stop ends. */
  'ACCOUNT_STOPPED',
] as const;
export type TxSubState = (typeof TX_SUB_STATES)[number];

/**
 * Every allowed change of state. A tx leaves a final state only through a reorg deeper than `confirmations.required`, and only if a block
 * decided its end: see {@link canTransition}. Or when what failed is executed in a later block, on a chain that left its nonce free.
 */
export const TRANSITIONS = {
  PENDING: ['ALLOCATED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'],
  ALLOCATED: ['IN_MEMPOOL', 'MINED', 'PENDING', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'],
  IN_MEMPOOL: ['MINED', 'PENDING', 'CANCELLED', 'REPLACED', 'DROPPED', 'FAILED'],
  MINED: ['CONFIRMED', 'FAILED', 'CANCELLED', 'PENDING', 'IN_MEMPOOL'],
  CONFIRMED: ['IN_MEMPOOL'],
  FAILED: ['IN_MEMPOOL'],
  CANCELLED: ['IN_MEMPOOL'],
  REPLACED: ['IN_MEMPOOL'],
  DROPPED: ['IN_MEMPOOL'],
} as const satisfies Record<TxState, readonly TxState[]>;

const FINAL: ReadonlySet<TxState> = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);

export function isFinal(state: TxState): boolean {
  return FINAL.has(state);
}

/** @param decidedByBlock whether a mined slot decided the present state, so that a reorg could undo it */
export function canTransition(from: TxState, to: TxState, decidedByBlock: boolean): boolean {
  const allowed: readonly TxState[] = TRANSITIONS[from];
  if (!allowed.includes(to)) return false;
  return isFinal(from) ? decidedByBlock : true;
}
