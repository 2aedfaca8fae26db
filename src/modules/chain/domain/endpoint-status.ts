import type { ChainId } from '../../../kernel/signer-id.js';

/** What is known about one RPC endpoint. Safe to show: no path, no query, no credentials. */
export interface EndpointStatus {
  readonly chainId: ChainId;
  /** Position in the config, and protocol and host of the URL. */
  readonly endpoint: string;
  /**
   * `unverified`: its chain id was not asked yet, or not since it was last away. `lagging`: more blocks behind the best head
   * than `maxLag`, and used only when no other endpoint is well. `ahead`: further ahead than the others confirm and the chain can
   * have got; its head is not believed, and it is read from only when there is no other.
   */
  readonly state: 'up' | 'unverified' | 'backing_off' | 'wrong_chain' | 'lagging' | 'ahead';
  /** Behind the best head of the chain's endpoints, below zero for one that is ahead of it; null before they were compared, and always for a single endpoint. */
  readonly lagBlocks: number | null;
  readonly consecutiveFailures: number;
  /** Moving average, milliseconds; null before the first answer. */
  readonly latencyMs: number | null;
  /** What `wrong_chain` means here. */
  readonly reportedChainId: ChainId | null;
  readonly lastError: string | null;
}

/** Health of the endpoints of all chains, as this process sees it; asks nothing. */
export abstract class RpcHealth {
  abstract endpoints(): readonly EndpointStatus[];
}
