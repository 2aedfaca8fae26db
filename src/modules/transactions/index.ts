export { ChainRules } from './application/chain-rules.js';
export { Doorbell } from './application/doorbell.js';
export { LeasedWork } from './application/leased-work.js';
export { TxMetrics } from './application/tx-metrics.js';
export type { Attempt } from './domain/attempt.js';
export { AttemptRepository } from './domain/attempt.repository.js';
export { ManagedTx } from './domain/managed-tx.js';
export { ManagedTxRepository } from './domain/managed-tx.repository.js';
export { isFinal, TRANSITIONS, TX_STATES, type TxState } from './domain/tx-state-machine.js';
