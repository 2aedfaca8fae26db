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
export { hashOfStored, hashRequest, requestText } from './application/intake/request-hash.js';
export { IntakeRules } from './application/intake/intake-rules.js';
export { type AttemptView, TxQueries, type TxView } from './application/queries/tx-views.js';
export { WaitForState } from './application/queries/wait-for-state.js';
export { AssertCallback } from './application/intake/assert-callback.js';
export { ProveBlobs } from './application/intake/prove-blobs.js';
export { WriteChanges } from './application/writing/write-changes.js';
export { TxMetrics } from './application/writing/tx-metrics.js';
export {
  type Attempt,
  type AttemptFees,
  type AttemptKind,
  type AttemptOutcome,
  asFound,
  attemptsFor,
  highestFees,
  outcomeOf,
  refusedForPrice,
  type TxType,
} from './domain/attempt.js';
export {
  type Authorization,
  awaitedAuthorities,
  hasGrants,
  isAwaited,
  isOwn,
  type OwnAuthorization,
  type RequestedAuthorization,
  type SignedAuthorization,
} from './domain/authorization.js';
export { BlobRepository } from './domain/blob.repository.js';
export { AttemptRepository, type ConsumedSlot } from './domain/attempt.repository.js';
export { type ConfirmationRange, ManagedTx, type SubmitTimers } from './domain/managed-tx.js';
export { FundsRepository, type FundsStanding, type QueuedCost } from './domain/funds.repository.js';
export {
  type InFlightAround,
  ManagedTxRepository,
  type PendingTx,
  type RequestedTx,
  type SignerRoom,
  type SignerWork,
  type UnminedTx,
} from './domain/managed-tx.repository.js';
export { kindOf, type PoolKind } from './domain/pool-kind.js';
export { competeAgain, endRace, newestOf, type Race, racesOf, reopenRace, restWhileMined } from './domain/race.js';
export type { QueuePosition } from './domain/queue-position.js';
export type { RequestedFees, StoredRequest, TxPayload, TxRequest } from './domain/tx-request.js';
export { costOf, type TxAmounts } from './domain/tx-cost.js';
export { TX_STATES, type TxState, type TxSubState, isFinal } from './domain/tx-state-machine.js';
export {
  PROGRESS_COLUMNS,
  REQUEST_COLUMNS,
  type RequestRow,
  fromStoredFees,
  type ProgressRow,
  type StoredFees,
  toManagedTx,
  toRequest,
  toStoredFees,
  type StoredAuthorization,
  toStoredAuthorization,
  toStoredOptions,
} from './infrastructure/managed-tx.rows.js';
export { CreateTxDto, FeesDto } from './infrastructure/http/create-tx.dto.js';
export { isTxId } from './infrastructure/http/page-cursor.js';
export { toBlobs } from './infrastructure/http/to-blobs.js';
export { toFees } from './infrastructure/http/to-fees.js';
export { requestIdOf, toRequest as toTxRequest } from './infrastructure/http/to-request.js';
export { WaitQueryDto } from './infrastructure/http/tx-query.dto.js';
export * as txProblems from './infrastructure/http/tx-problems.js';
export { TxDto } from './infrastructure/http/tx-responses.js';
export { COMMITTED_WEI, FINAL_STATES, IS_OUT } from './infrastructure/managed-tx.statements.js';
export { TRANSFER_GAS } from './application/writing/new-fills.js';
