import type { ChainId } from '../../../kernel/signer-id.js';

export const ENDPOINT_STATES = ['up', 'unverified', 'backing_off', 'wrong_chain', 'lagging', 'ahead'] as const;

/** The state of one RPC endpoint. Safe to show: no path, no query, no credentials. */
export interface EndpointStatus {
  readonly chainId: ChainId;
  /** Position in the config, and protocol and host of the URL. */
  readonly endpoint: string;
  /**
   * `unverified`: its chain id has not been read yet, or not since the connection was lost. `lagging`: more than `maxLag` blocks behind
   * the best head; used for reads only when no other endpoint is up. `ahead`: further ahead than the other endpoints confirm and the
   * chain can be; its head is not used, and it is used for reads only when there is no other endpoint.
   */
  readonly state: (typeof ENDPOINT_STATES)[number];
  /** Blocks behind the best head, negative when ahead of it; null before the first comparison, and for a single endpoint. */
  readonly lagBlocks: number | null;
  readonly consecutiveFailures: number;
  /** Moving average, milliseconds; null before the first answer. */
  readonly latencyMs: number | null;
  /** The chain id that an endpoint in state `wrong_chain` reports; else null. */
  readonly reportedChainId: ChainId | null;
  readonly lastError: string | null;
}

/** Health of the endpoints of all chains, as this process knows it; makes no RPC call. */
export abstract class RpcHealth {
  abstract endpoints(): readonly EndpointStatus[];
}
