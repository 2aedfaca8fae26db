export { LeaseManager } from './application/lease-manager.js';
export { Router } from './application/router.js';
export { type LeaseHolder, NodeRegistry } from './domain/node-registry.js';
export { type CustodiedSigner, type CustodyReference, Custody, type EcdsaSignature } from './domain/custody.js';
export { Fence, FencedUnitOfWork } from './domain/fence.js';
export type { Lease } from './domain/lease.js';
export { LeaseLost } from './domain/lease-lost.js';
export { NonceLedger, type SequenceState, type SlotHolder, type SlotRef } from './domain/nonce-ledger.js';
export { grantNonces, type NonceGrant } from './domain/nonce-sequence.js';
