import type { ChainId } from '../../../kernel/signer-id.js';

/** The chains on which any node had leases lately. */
export abstract class ChainActivity {
  /**
   * Stores that this node has leases on these chains.
   * @returns for every chain that a node ever stored: milliseconds since the last time, by the database clock
   */
  abstract note(chainIds: readonly ChainId[]): Promise<ReadonlyMap<ChainId, number>>;
}
