export { BroadcastAttempts } from './application/broadcast-attempts.js';
export { FeeRules } from './application/fee-rules.js';
export { withMargin } from './domain/gas-margin.js';
export { noOpGas } from './application/no-op.js';
export { RepricePayloads } from './application/reprice-payloads.js';
export type { Sending } from './application/send.js';
export { SignAttempts } from './application/sign-attempts.js';
export { SignNoOps } from './application/sign-no-ops.js';
