/** Public states of a managed tx (docs/state-machine.md). */
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
