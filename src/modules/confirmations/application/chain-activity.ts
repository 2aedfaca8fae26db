import type { ChainId } from '../../../kernel/signer-id.js';

/** On which chains any node had leases lately. */
export abstract class ChainActivity {
  /**
   * Notes that this node has leases on these chains.
   * @returns for every chain on which a node ever had, milliseconds since one noted it last, by the database clock
   */
  abstract note(chainIds: readonly ChainId[]): Promise<ReadonlyMap<ChainId, number>>;
}
