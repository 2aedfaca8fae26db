import type { Fault } from './fault.js';
import { ATTEMPTS } from './lists/attempts.js';
import { LEASES } from './lists/leases.js';
import { MANAGED_TXS } from './lists/managed-txs.js';
import { NONCES } from './lists/nonces.js';

/** Faults in the statements that keep leases, nonces, attempts and txs: a mistake there sends a payload twice, or loses it. */
export const ALL_FAULTS: readonly Fault[] = [...MANAGED_TXS, ...ATTEMPTS, ...NONCES, ...LEASES];
