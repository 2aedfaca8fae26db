export { AlignNonces } from './application/align-nonces.js';
export { AuthorizationTurns } from './application/authorization-turns.js';
export { FillNonceGaps } from './application/fill-nonce-gaps.js';
export { type SlotInDoubt, ForeignNonces } from './application/foreign-nonces.js';
export { FreeNonceGaps } from './application/free-nonce-gaps.js';
export { ReassignNonces } from './application/reassign-nonces.js';
export { ReopenNonces } from './application/reopen-nonces.js';
