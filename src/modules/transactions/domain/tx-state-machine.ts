/** Public states of a managed tx (design, section 3). */
export const TX_STATES = [
  'PENDING',
  'ALLOCATED',
  'IN_MEMPOOL',
  'MINED',
  'CONFIRMED',
  'FAILED',
  'CANCELLED',
  'REPLACED',
  'DROPPED',
] as const;
export type TxState = (typeof TX_STATES)[number];

/** What a tx that is not getting on is waiting for; null when all is well. */
export const TX_SUB_STATES = [
  'NONCE_SYNC',
  'STALE',
  'FEE_CAPPED',
  'INSUFFICIENT_FUNDS',
  'OUTCOME_UNKNOWN',
  'CANCELLING',
  'REPLACING',
  'REORG_DETECTED',
  'SIGNER_PAUSED',
  /** Every node refuses it for now, for a reason that is neither price nor funds; it is tried again. */
  'NODE_REFUSED',
  /** No node answers for it; it is tried again. */
  'NODE_UNAVAILABLE',
  /** Its gas estimate reverts; it is estimated again at a later block, and fails only if that says the same. */
  'SIMULATION_REVERTED',
  /** No live node has the key of its signer. Not stored, for nobody may write then: reads say it. */
  'SIGNER_UNAVAILABLE',
] as const;
export type TxSubState = (typeof TX_SUB_STATES)[number];

/**
 * Every allowed change of state. A final state leaves only through a reorg deeper than `confirmations.required`, and only
 * if its end was decided by a block: see {@link canTransition}.
 */
export const TRANSITIONS = {
  PENDING: ['ALLOCATED', 'FAILED', 'CANCELLED', 'DROPPED'],
  ALLOCATED: ['IN_MEMPOOL', 'MINED', 'PENDING', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'],
  IN_MEMPOOL: ['MINED', 'PENDING', 'CANCELLED', 'REPLACED', 'DROPPED', 'FAILED'],
  MINED: ['CONFIRMED', 'FAILED', 'IN_MEMPOOL'],
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

/** @param decidedByBlock whether the present state was decided by a mined slot, and a reorg could take that back */
export function canTransition(from: TxState, to: TxState, decidedByBlock: boolean): boolean {
  const allowed: readonly TxState[] = TRANSITIONS[from];
  if (!allowed.includes(to)) return false;
  return isFinal(from) ? decidedByBlock : true;
}
