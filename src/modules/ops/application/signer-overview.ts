/** One signer as operators see it. */
export interface SignerView {
  readonly chainId: number;
  readonly address: string;
  readonly custody: Record<string, unknown>;
  /** null when no node holds the lease now. */
  readonly leaseOwner: string | null;
  /** Grows with every change of holder; null before the first. */
  readonly fencingToken: string | null;
  readonly leaseExpiresAt: string | null;
  /** The next new nonce; null before the first alignment with the chain. */
  readonly cursor: number | string | null;
  /** Accepted txs that have no nonce yet. */
  readonly pending: number;
  /** Txs with a nonce that are not mined yet. */
  readonly inFlight: number;
  /** Both together: what clients are waiting for. */
  readonly backlog: number;
}

export interface SignerPage {
  readonly items: readonly SignerView[];
  readonly nextCursor: string | null;
}

export abstract class SignerOverview {
  /** By chain and address. @param after the cursor of the page before */
  abstract list(
    after: { readonly chainId: number; readonly address: string } | null,
    limit: number,
  ): Promise<SignerView[]>;
}
