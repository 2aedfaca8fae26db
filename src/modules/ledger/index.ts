export { SignerFeeCaps } from './application/signer-fee-caps.js';
export { Doorbell, LaneWaker } from './application/writing/doorbell.js';
export { BumpWatch } from './application/writing/bump-watch.js';
export { LaneMemory } from './application/writing/lane-memory.js';
export { InFlightLimits } from './application/writing/in-flight-limits.js';
export { PostponeDue } from './application/writing/postpone-due.js';
export { BegunWork } from './application/writing/begun-work.js';
export { LeasedWork } from './application/writing/leased-work.js';
export { NewFills } from './application/writing/new-fills.js';
export type { ChangeSet } from './application/writing/change-set.js';
export { hashRequest, requestText } from './application/request-hash.js';
export { type AttemptView, TxQueries, type TxView } from './application/views/tx-views.js';
export { WriteChanges } from './application/writing/write-changes.js';
export {
  type Attempt,
  ATTEMPT_STATUSES,
  type AttemptFees,
  type AttemptOutcome,
  isUnopposed,
  mayBeInPool,
  mayBeOut,
  type TxType,
} from './domain/attempt.js';
export { type Authorization, awaitedAuthorities, type SignedAuthorization } from './domain/authorization.js';
export {
  awaitedPermits,
  fitsPlaces,
  type MadePermit,
  ownerOf,
  PERMIT_KINDS,
  PERMIT_OVER_S,
  PERMIT_PARTS,
  type PermitKind,
  type PermitPart,
  type PermitPlace,
  type RequestedPermit,
  typeOfPermit,
  unsignedPermit,
} from './domain/permit.js';
export { PermitStore, type PermitUse } from './domain/permit-store.js';
export { BlobRepository } from './domain/blob.repository.js';
export { AttemptRepository, type ConsumedSlot } from './domain/attempt.repository.js';
export { ManagedTx, TX_KINDS, type TxKind } from './domain/managed-tx.js';
export { FundsRepository, type FundsStanding } from './domain/funds.repository.js';
export { ManagedTxRepository, type RequestedTx } from './domain/managed-tx.repository.js';
export { type Intake, type NewTx, type RequestKey, TxIntake } from './domain/tx-intake.js';
export { createdMs, type PendingTx, TxQueue, type WaitingQueue } from './domain/tx-queue.js';
export { type PoolKind, TxsInFlight, type UnminedTx, type WaitingHold } from './domain/txs-in-flight.js';
export { AuthorizationStore, type Grant, type GrantStage } from './domain/authorization-store.js';
export { CommandedTxs } from './domain/commanded-txs.js';
export {
  type Books,
  type ChainBehind,
  type ChainBehindSince,
  LostCommitsRepository,
  type SignerOutlook,
} from './domain/lost-commits.repository.js';
export { MinedTxs } from './domain/mined-txs.js';
export {
  NO_FEES,
  noOpPayload,
  NO_PAYLOAD,
  type StoredRequest,
  type TxPayload,
  type TxRequest,
} from './domain/tx-request.js';
export { costOf } from './domain/tx-cost.js';
export { isFinal, TX_STATES, TX_SUB_STATES, type TxState, type TxSubState } from './domain/tx-state-machine.js';
