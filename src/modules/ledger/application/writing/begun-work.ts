import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey } from '../../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../../platform/database/database-watch.js';
import { LaneMemory } from './lane-memory.js';
import { LeasedWork, type LeasedTask, type OfSigner } from './leased-work.js';

/**
 * Runs work that signs or sends for txs, or that ends them, for the signers whose lanes have begun. Before that, what they sent may not all be
 * known (docs/invariants.md, I16).
 */
@Injectable()
export class BegunWork {
  constructor(
    private readonly leased: LeasedWork,
    private readonly memory: LaneMemory,
    private readonly watch: DatabaseWatch,
  ) {}

  /**
   * As {@link LeasedWork.run}.
   * @returns also the items of the signers whose lanes have not begun
   */
  async run<Item extends OfSigner>(chainId: ChainId, items: readonly Item[], task: LeasedTask<Item>): Promise<Item[]> {
    if (items.length === 0) return [];
    await this.watch.checkIfReconnected();
    const notBegun: Item[] = [];
    const left = await this.leased.run(chainId, items, async (leases, share) => {
      // Again: the work that it waited for may have made a connection, and that to a server that lost commits.
      await this.watch.checkIfReconnected();
      const begun = leases.filter((lease) => !this.memory.needsRecovery(lease));
      const keys = new Set(begun.map(({ signer }) => signerKey(signer)));
      const isBegun = ({ signer }: OfSigner): boolean => keys.has(signerKey(signer));
      notBegun.push(...share.filter((item) => !isBegun(item)));
      if (begun.length > 0) await task(begun, share.filter(isBegun));
    });
    return [...left, ...notBegun];
  }
}
