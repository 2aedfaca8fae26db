import type { Address, Hash, Hex } from '../../../kernel/hex.js';

export const POLICY_RULES = [
  'to',
  'selector',
  'maxValue',
  'maxFee',
  'dailyValue',
  'dailyFees',
  'contractCreation',
  'blobs',
  'authorizations',
  'outsideNonces',
  'typedData',
] as const;
export type PolicyRule = (typeof POLICY_RULES)[number];

/** What a signer may sign. Amounts are wei; null where there is no limit. */
export interface Policy {
  /** Allowed receivers, each with the selectors that it may be sent, or null for any data; null allows every receiver. */
  readonly to: ReadonlyMap<Address, ReadonlySet<string> | null> | null;
  readonly maxValue: bigint | null;
  readonly maxFee: bigint | null;
  readonly dailyValue: bigint | null;
  readonly dailyFees: bigint | null;
  readonly contractCreation: boolean;
  readonly blobs: boolean;
  readonly authorizations: boolean;
  /** What it may sign besides transactions (`TYPED_DATA`); contracts in lower case. */
  readonly typedData: ReadonlySet<string>;
  /** It only reports. */
  readonly dryRun: boolean;
}

/** The parts of a request that a policy looks at. */
export interface JudgedRequest {
  readonly payload: {
    readonly to: Address | null;
    readonly value: bigint;
    readonly data: Hex;
    readonly gasLimit: bigint | null;
    readonly blobHashes?: readonly Hash[];
    readonly authorizationList?: readonly unknown[];
  };
  /** Of the client. */
  readonly fees: { readonly maxFeePerGas: bigint | null; readonly gasPrice: bigint | null };
}

/** Wei. */
export interface Spending {
  readonly value: bigint;
  /** Of gas and blobs. */
  readonly fees: bigint;
}

export const NO_SPENDING: Spending = { value: 0n, fees: 0n };

export function plus(a: Spending, b: Spending): Spending {
  return { value: a.value + b.value, fees: a.fees + b.fees };
}

/** What a tx needs of the daily amounts, and what is spent or reserved of them without it. */
export interface DailyNeed {
  readonly spent: Spending;
  readonly needs: Spending;
}

export type Refused = { readonly kind: 'refused'; readonly rule: PolicyRule; readonly reason: string };
/** Until the window of 24 hours has room. */
export type Held = { readonly kind: 'held'; readonly rule: 'dailyValue' | 'dailyFees'; readonly reason: string };
export type Verdict = { readonly kind: 'allowed' } | Refused | Held;

const ALLOWED: Verdict = { kind: 'allowed' };
const SELECTOR_CHARACTERS = '0x12345678'.length;

/**
 * What a policy says of a request, whether it is a dry run or not. Without `daily` only what the request alone decides: the same at intake and where it
 * gets its nonce.
 */
export function verdict(policy: Policy, request: JudgedRequest, daily: DailyNeed | null = null): Verdict {
  return refusedReceiver(policy, request) ?? refusedAmount(policy, request) ?? overDaily(policy, daily) ?? ALLOWED;
}

/** Whether a signer may sign an authorization for the transaction of another one. */
export function authorizing(policy: Policy): Verdict {
  return refusedAuthorization(policy) ?? ALLOWED;
}

/** Nobody can judge what an outside sender signs, so who has a policy gives no nonces away. */
export function outside(): Verdict {
  return refused('outsideNonces', 'it may not give nonces to outside senders');
}

/** Whether a signer may sign typed data: never unless a policy names it. */
export function typing(policy: Policy | null, what: string): Verdict {
  return policy?.typedData.has(what) ? ALLOWED : refused('typedData', `it may not sign typed data ${what}`);
}

/** Whether the daily amounts have to be counted. */
export function hasDailyLimit({ dailyValue, dailyFees }: Policy): boolean {
  return dailyValue !== null || dailyFees !== null;
}

function refusedReceiver(policy: Policy, { payload }: JudgedRequest): Refused | null {
  const { to, data } = payload;
  if (payload.blobHashes !== undefined && !policy.blobs) return refused('blobs', 'it may not send blobs');
  const authorization = payload.authorizationList === undefined ? null : refusedAuthorization(policy);
  if (authorization) return authorization;
  if (to === null) return policy.contractCreation ? null : refused('contractCreation', 'it may not create contracts');
  if (policy.to === null) return null;
  const selectors = policy.to.get(to);
  if (selectors === undefined) return refused('to', `it may not send to ${to}`);
  const selector = data.slice(0, SELECTOR_CHARACTERS);
  if (selectors === null || selectors.has(selector)) return null;
  return refused('selector', `it may not call ${selector} of ${to}`);
}

function refusedAuthorization({ authorizations }: Policy): Refused | null {
  return authorizations ? null : refused('authorizations', 'it may not send or sign authorizations');
}

function refusedAmount(policy: Policy, { payload, fees }: JudgedRequest): Refused | null {
  const { value, gasLimit } = payload;
  if (policy.maxValue !== null && value > policy.maxValue) return above('maxValue', value, policy.maxValue);
  if (policy.dailyValue !== null && value > policy.dailyValue) return above('dailyValue', value, policy.dailyValue);
  const price = fees.maxFeePerGas ?? fees.gasPrice;
  // What the client leaves open gets no price above the limit.
  if (policy.maxFee === null || gasLimit === null || price === null || gasLimit * price <= policy.maxFee) return null;
  return above('maxFee', gasLimit * price, policy.maxFee);
}

/** Whether the daily amounts have room for it. */
export function hasDailyRoom(policy: Policy, daily: DailyNeed): boolean {
  return overDaily(policy, daily) === null;
}

function overDaily(policy: Policy, daily: DailyNeed | null): Refused | Held | null {
  if (daily === null) return null;
  const { spent, needs } = daily;
  for (const [rule, name] of [
    ['dailyValue', 'value'],
    ['dailyFees', 'fees'],
  ] as const) {
    const limit = policy[rule];
    if (limit === null) continue;
    if (needs[name] > limit) return above(rule, needs[name], limit);
    // What needs nothing waits for nothing.
    if (needs[name] > 0n && spent[name] + needs[name] > limit)
      return {
        kind: 'held',
        rule,
        reason: `${rule} is ${limit} wei; ${spent[name]} are spent or reserved within 24 hours, and it needs ${needs[name]}`,
      };
  }
  return null;
}

function above(rule: PolicyRule, asked: bigint, limit: bigint): Refused {
  return refused(rule, `${rule} is ${limit} wei, and it needs ${asked}`);
}

function refused(rule: PolicyRule, reason: string): Refused {
  return { kind: 'refused', rule, reason };
}
