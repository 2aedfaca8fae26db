import type { Fault } from './fault.js';
import { ATTEMPTS } from './lists/attempts.js';
import { AUTHORIZATIONS } from './lists/authorizations.js';
import { BLOCKS } from './lists/blocks.js';
import { LEASES } from './lists/leases.js';
import { LOST_COMMITS } from './lists/lost-commits.js';
import { MANAGED_TXS } from './lists/managed-txs.js';
import { NONCES } from './lists/nonces.js';
import { API_POLICIES, POLICIES } from './lists/policies.js';
import { PERMITS } from './lists/permits.js';
import { READINESS } from './lists/readiness.js';

/** Faults in the statements that keep leases, nonces, attempts, txs, blocks and daily amounts: a mistake there sends a payload twice, loses it, or spends too much. */
export const ALL_FAULTS: readonly Fault[] = [
  ...MANAGED_TXS,
  ...ATTEMPTS,
  ...NONCES,
  ...LEASES,
  ...BLOCKS,
  ...LOST_COMMITS,
  ...PERMITS,
  ...READINESS,
  ...POLICIES,
  ...API_POLICIES,
  ...AUTHORIZATIONS,
];
