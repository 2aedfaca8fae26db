import { isUnlimited, isWithin, limitedTo, NO_LIMITS, outsideLimits, type Viewer } from '../../../kernel/caller.js';
import type { Address } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { PublicEvent, PublicEventType } from '../../events/index.js';

/** Which events an endpoint gets; null stands for all. An event has to pass all three. */
export interface EndpointFilter {
  readonly types: readonly PublicEventType[] | null;
  readonly chainIds: readonly ChainId[] | null;
  readonly signers: readonly Address[] | null;
}

/** What a client chooses. */
export interface EndpointSettings extends EndpointFilter {
  /** As {@link WebhookTargets.checkedUrl} returns it. */
  readonly url: string;
  readonly description: string | null;
  /** It gets only events of requests that name it as their `callback`. */
  readonly callbackOnly: boolean;
}

/** Without its secrets, which are shown once. */
export interface WebhookEndpoint extends EndpointSettings {
  readonly id: string;
  /** The id of the account that it belongs to. */
  readonly account: string;
  /** Null while it is enabled. A disabled endpoint gets no new deliveries. */
  readonly disabled: { readonly since: Date; readonly reason: string } | null;
  /** Since when no delivery has succeeded; null after a success. */
  readonly failingSince: Date | null;
  /** When the last of the previous secrets stops to sign; null when there are none. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An enabled endpoint, as far as decides which events it gets. */
export interface Subscriber extends Omit<EndpointFilter, 'chainIds' | 'signers'> {
  readonly id: string;
  readonly account: string;
  readonly chainIds: ReadonlySet<ChainId> | readonly ChainId[] | null;
  readonly signers: ReadonlySet<Address> | readonly Address[] | null;
  readonly callbackOnly: boolean;
}

/**
 * A caller that is limited to signers or chains makes endpoints that get events of these only.
 * @throws Forbidden `outside_limits`
 */
export function assertWithin(viewer: Viewer, { chainIds, signers }: EndpointFilter): void {
  if (isUnlimited(viewer)) return;
  const named = chainIds?.flatMap((chainId) => signers?.map((address) => ({ chainId, address })) ?? []) ?? [];
  const told = chainIds === null ? NO_LIMITS : limitedTo(signers === null ? null : named, chainIds);
  if (!isWithin(told, viewer.only)) throw outsideLimits('chainIds and signers of the endpoint let events pass');
}

type Matched = Pick<PublicEvent, 'type' | 'chainId' | 'signer' | 'account' | 'callback'>;

/**
 * Events of signers are for all accounts, those of a tx for its own. A request that names the endpoint sends it every event of its tx, whatever
 * the filters are.
 */
export function wants({ id, account, callbackOnly, types, chainIds, signers }: Subscriber, event: Matched): boolean {
  if (event.account !== null && event.account !== account) return false;
  if (event.callback === id) return true;
  if (callbackOnly) return false;
  return passes(types, event.type) && passes(chainIds, event.chainId) && passes(signers, event.signer);
}

function passes<T>(wanted: ReadonlySet<T> | readonly T[] | null, value: T): boolean {
  return wanted === null || ('has' in wanted ? wanted.has(value) : wanted.includes(value));
}
