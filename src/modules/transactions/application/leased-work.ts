import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type Lease, LeaseLost, LeaseManager } from '../../signers/index.js';
import { inPieces } from './in-pieces.js';
import { LaneMemory } from './lane-memory.js';
import { leasesFor } from './leases-for.js';
import { SignerWorkers } from './signer-workers.js';

/** Work of this node for signers it holds, on the signers' own workers, so that a lane and the followers never interleave. */
@Injectable()
export class LeasedWork {
  constructor(
    private readonly workers: SignerWorkers,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly log: Log,
  ) {}

  /**
   * Runs `task` once per worker with its share of the items. Items of signers that are not ours (any more) are left out:
   * their owner does the same work.
   */
  async run<Item extends { readonly signer: SignerId }>(
    chainId: ChainId,
    items: readonly Item[],
    task: (leases: readonly Lease[], items: readonly Item[]) => Promise<void>,
  ): Promise<void> {
    if (items.length === 0) return;
    await this.workers.forChain(chainId).runGrouped(
      [...items],
      (item) => signerKey(item.signer),
      (share) => this.runShare(share, task),
    );
  }

  private async runShare<Item extends { readonly signer: SignerId }>(
    share: readonly Item[],
    task: (leases: readonly Lease[], items: readonly Item[]) => Promise<void>,
  ): Promise<void> {
    const held = new Map<string, Lease>();
    for (const { signer } of share) {
      const lease = this.leases.held(signer);
      if (lease) held.set(signerKey(signer), lease);
    }
    const ours = share.filter(({ signer }) => held.has(signerKey(signer)));
    try {
      // One item that cannot be written must not keep the whole chain from being followed.
      await inPieces(
        ours,
        async (piece) => {
          await task(
            leasesFor(
              [...held.values()],
              piece.map(({ signer }) => signer),
            ),
            piece,
          );
          return [];
        },
        async ({ signer }, error) => this.log.error('work for a signer failed', { signer: signerKey(signer), error }),
      );
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.leases.lost(error);
      this.memory.forget(error.leases.map(({ signer }) => signer));
      // The others are still ours: the share shrinks by what was lost.
      await this.runShare(share, task);
    }
  }
}
