export { SignerPolicies } from './application/signer-policies.js';
export {
  type DailyNeed,
  type Held,
  NO_SPENDING,
  POLICY_RULES,
  type Policy,
  type Refused,
  type Spending,
  hasDailyRoom,
  outside,
  plus,
  verdict,
} from './domain/policy.js';
export { type PolicyRules, toPolicy, toRules, type WrittenRules } from './domain/policy-rules.js';
export { type PolicySet, type PolicyVerdict, type SignerPolicy } from './domain/policy-set.js';
export { SpendLedger, type Spent } from './domain/spend-ledger.js';
export { type PolicyChange, StoredPolicies, type StoredPolicy } from './domain/stored-policies.js';
export { POLICY_MARK } from './infrastructure/pg-stored-policies.js';
