export { LeaseManager } from './application/lease-manager.js';
export { Router } from './application/router.js';
export { SignerBackoff } from './application/signer-backoff.js';
export { SignerWorkers } from './application/signer-workers.js';
export { CannotSign, Custody, CustodyFailed, ExternalSigner, type SignerPolicy } from './domain/custody.js';
export { Fence, FencedUnitOfWork } from './domain/fence.js';
export { LeaseLost } from './domain/lease-lost.js';
export type { Lease } from './domain/lease.js';
export { leasesFor } from './domain/leases-for.js';
export { type LeaseHolder, NodeRegistry } from './domain/node-registry.js';
export {
  type MovedGap,
  NonceLedger,
  type RacedSlot,
  type SequenceState,
  type SlotHolder,
  type SlotRef,
} from './domain/nonce-ledger.js';
export { grantNonces } from './domain/nonce-sequence.js';
export { NotLeader } from './domain/not-leader.js';
export {
  type Pause,
  type PausePlace,
  type PauseRequest,
  type PauseScope,
  SignerPauses,
  type StoppedAccount,
} from './domain/signer-pauses.js';
export { SignerDirectory } from './domain/signer-directory.js';
export { slotKey } from './domain/slot-key.js';
export { CheckedCustody } from './infrastructure/checked-custody.js';
export { PgNonceLedger } from './infrastructure/pg-nonce-ledger.js';
export { PgSignerDirectory } from './infrastructure/pg-signer-directory.js';
export { isPaused, isStopped, type PauseJson, pauseOf, toPause } from './infrastructure/pause-of.js';
export { signerColumns, slotColumns } from './infrastructure/key-columns.js';
