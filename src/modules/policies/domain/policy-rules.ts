import { type Address, parseAddress } from '../../../kernel/hex.js';
import { parseQuantity } from '../../../kernel/quantities.js';
import type { Policy } from './policy.js';

/** Wei. Without one there is no limit. */
type Amount = bigint | string | number | null;

/** A policy as people write it: in the config, or in a request. What is left out limits nothing, and allows nothing that is rare. */
export interface PolicyRules {
  readonly to?: readonly { readonly address: string; readonly selectors?: readonly string[] | null }[] | null;
  readonly maxValue?: Amount;
  readonly maxFee?: Amount;
  readonly dailyValue?: Amount;
  readonly dailyFees?: Amount;
  readonly contractCreation?: boolean;
  readonly blobs?: boolean;
  readonly authorizations?: boolean;
  readonly typedData?: readonly string[] | null;
  readonly dryRun?: boolean;
}

/** As it is stored and shown: with every rule, in one spelling. */
export interface WrittenRules extends Required<PolicyRules> {
  readonly to: { readonly address: string; readonly selectors: string[] | null }[] | null;
  readonly maxValue: string | null;
  readonly maxFee: string | null;
  readonly dailyValue: string | null;
  readonly dailyFees: string | null;
  readonly typedData: string[];
}

export function toPolicy({ to, ...rules }: PolicyRules): Policy {
  return {
    to: to == null ? null : toReceivers(to),
    maxValue: toWei(rules.maxValue),
    maxFee: toWei(rules.maxFee),
    dailyValue: toWei(rules.dailyValue),
    dailyFees: toWei(rules.dailyFees),
    contractCreation: rules.contractCreation ?? false,
    blobs: rules.blobs ?? false,
    authorizations: rules.authorizations ?? false,
    typedData: new Set(rules.typedData?.map(inOneSpelling)),
    dryRun: rules.dryRun ?? false,
  };
}

export function toRules({ to, maxValue, maxFee, dailyValue, dailyFees, typedData, ...flags }: Policy): WrittenRules {
  return {
    to: to && [...to].map(([address, selectors]) => ({ address, selectors: selectors && [...selectors] })),
    maxValue: maxValue?.toString() ?? null,
    maxFee: maxFee?.toString() ?? null,
    dailyValue: dailyValue?.toString() ?? null,
    dailyFees: dailyFees?.toString() ?? null,
    typedData: [...typedData],
    ...flags,
  };
}

/** Names of domains and types are compared as they are. */
function inOneSpelling(text: string): string {
  return text.replace(/^0x[0-9a-fA-F]{40}\//, (contract) => contract.toLowerCase());
}

function toWei(amount: Amount | undefined): bigint | null {
  if (amount == null) return null;
  return typeof amount === 'bigint' ? amount : parseQuantity(amount);
}

/** One address may be there more than once: everything that is named of it is allowed. */
function toReceivers(allowed: NonNullable<PolicyRules['to']>): NonNullable<Policy['to']> {
  const receivers = new Map<Address, ReadonlySet<string> | null>();
  for (const { address, selectors } of allowed) {
    const to = parseAddress(address);
    const known = receivers.get(to);
    if (selectors == null || known === null) receivers.set(to, null);
    else receivers.set(to, new Set([...(known ?? []), ...selectors.map((text) => text.toLowerCase())]));
  }
  return receivers;
}
