import { mayUse, type Viewer } from '../../../kernel/caller.js';
import type { Address } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { PublicEvent, PublicEventType } from './public-event.js';

/** What a client wants to see; null is everything. */
export interface EventFilter {
  readonly chainId: ChainId | null;
  readonly signer: Address | null;
  readonly txId: string | null;
  readonly types: ReadonlySet<PublicEventType> | null;
  /** Who asks. */
  readonly viewer: Viewer | null;
}

export const ALL_EVENTS: EventFilter = { chainId: null, signer: null, txId: null, types: null, viewer: null };

export function isWanted({ chainId, signer, txId, types, viewer }: EventFilter, event: PublicEvent): boolean {
  return (
    (chainId === null || event.chainId === chainId) &&
    (signer === null || event.signer === signer) &&
    (txId === null || event.txId === txId) &&
    (types === null || types.has(event.type)) &&
    (viewer === null || maySee(viewer, event))
  );
}

/** What is about a signer belongs to nobody. */
export function maySee(viewer: Viewer, { account, chainId, signer }: PublicEvent): boolean {
  return (account === null || account === viewer.account) && mayUse(viewer, { chainId, address: signer });
}
