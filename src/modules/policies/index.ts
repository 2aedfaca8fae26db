export { ReservedFees } from './application/reserved-fees.js';
export { type PolicyVerdict, SignerPolicies } from './application/signer-policies.js';
export { type Held, POLICY_RULES, type Refused, type Spending, verdict } from './domain/policy.js';
export { SpendLedger } from './domain/spend-ledger.js';
