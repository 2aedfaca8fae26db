import type { PauseView, PauseViewer } from '../domain/pause-view.js';
import type { ChainBehindSince } from '../../ledger/index.js';
import type { NonceGapSince } from '../domain/tx-facts.js';
import type { InFlightLimitView } from './signer-limits.js';

/** One signer with its lease and backlog, for operators. */
export interface SignerView {
  readonly chainId: number;
  readonly address: string;
  readonly custody: Record<string, unknown>;
  /** null when no node holds the lease now. */
  readonly leaseOwner: string | null;
  /** Grows with every change of owner; null before the first owner. */
  readonly fencingToken: string | null;
  readonly leaseExpiresAt: string | null;
  /** Next new nonce; null before the first alignment with the chain. */
  readonly cursor: number | string | null;
  /** The oldest pause that holds for it: it gets no new nonces; null when it is not paused. */
  readonly paused: PauseView | null;
  /** Since when and why nothing of it is sent: its chain is behind our books; null when it is not. */
  readonly behind: ChainBehindSince | null;
  /** The lowest one, where outside senders have the key; null when there is none, and where Lockstep fills them. */
  readonly nonceGap: NonceGapSince | null;
  /** Accepted txs that have no nonce yet. */
  readonly pending: number;
  /** Txs with a nonce that are not mined yet. */
  readonly inFlight: number;
  /** `pending` and `inFlight` together. */
  readonly backlog: number;
  readonly inFlightLimit: InFlightLimitView;
}

export interface SignerPage {
  readonly items: readonly SignerView[];
  readonly nextCursor: string | null;
}

export abstract class SignerOverview {
  /** Of those that a caller may use, sorted by chain and address. @param after the last signer of the previous page */
  abstract list(
    after: { readonly chainId: number; readonly address: string } | null,
    limit: number,
    viewer: PauseViewer,
  ): Promise<SignerView[]>;
}
