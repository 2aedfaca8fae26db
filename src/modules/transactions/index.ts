export { SignerFeeCaps } from './application/intake/signer-fee-caps.js';
export { Doorbell } from './application/writing/doorbell.js';
export { BumpWatch } from './application/writing/bump-watch.js';
export { LaneWaker } from './application/writing/lane-waker.js';
export { LaneMemory } from './application/writing/lane-memory.js';
export { InFlightLimits } from './application/writing/in-flight-limits.js';
export { LeasedWork } from './application/writing/leased-work.js';
export { MarkReceiptsDue } from './application/writing/mark-receipts-due.js';
export { NewFills } from './application/writing/new-fills.js';
export type { ChangeSet } from './application/writing/change-set.js';
export { WriteChanges } from './application/writing/write-changes.js';
export { TxMetrics } from './application/writing/tx-metrics.js';
export {
  type Attempt,
  type AttemptFees,
  type AttemptKind,
  type AttemptOutcome,
  asFound,
  highestFees,
  outcomeOf,
  refusedForPrice,
  type TxType,
} from './domain/attempt.js';
export { AttemptRepository, type ConsumedSlot } from './domain/attempt.repository.js';
export { type ConfirmationRange, ManagedTx, type SubmitTimers } from './domain/managed-tx.js';
export {
  type InFlightAround,
  ManagedTxRepository,
  type PendingTx,
  type RequestedTx,
  type SignerRoom,
  type SignerWork,
  type UnminedTx,
} from './domain/managed-tx.repository.js';
export type { QueuePosition } from './domain/queue-position.js';
export type { RequestedFees, StoredRequest, TxRequest } from './domain/tx-request.js';
export { TX_STATES, type TxState, type TxSubState, isFinal } from './domain/tx-state-machine.js';
export {
  PROGRESS_COLUMNS,
  REQUEST_COLUMNS,
  type RequestRow,
  toManagedTx,
  toRequest,
} from './infrastructure/managed-tx.rows.js';
export { isTxId } from './infrastructure/http/page-cursor.js';
export { COMMITTED_WEI } from './infrastructure/managed-tx.statements.js';
export { type AttemptView, TxQueries, type TxView } from './application/queries/tx-views.js';
export { TRANSFER_GAS } from './application/writing/new-fills.js';
