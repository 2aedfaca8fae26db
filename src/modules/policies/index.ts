export { type PolicyVerdict, SignerPolicies } from './application/signer-policies.js';
export { type DailyNeed, type Held, POLICY_RULES, type Refused, type Spending, verdict } from './domain/policy.js';
export { SpendLedger } from './domain/spend-ledger.js';
