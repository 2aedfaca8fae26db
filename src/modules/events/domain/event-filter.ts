import type { Address } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { PublicEvent, PublicEventType } from './public-event.js';

/** What a client wants to see; null is everything. */
export interface EventFilter {
  readonly chainId: ChainId | null;
  readonly signer: Address | null;
  readonly txId: string | null;
  readonly types: ReadonlySet<PublicEventType> | null;
}

export const ALL_EVENTS: EventFilter = { chainId: null, signer: null, txId: null, types: null };

export function isWanted({ chainId, signer, txId, types }: EventFilter, event: PublicEvent): boolean {
  return (
    (chainId === null || event.chainId === chainId) &&
    (signer === null || event.signer === signer) &&
    (txId === null || event.txId === txId) &&
    (types === null || types.has(event.type))
  );
}
