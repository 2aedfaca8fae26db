import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { type Lease, LeaseLost, LeaseManager } from '../../signers/index.js';
import { LaneMemory } from './lane-memory.js';
import { SignerWorkers } from './signer-workers.js';

/** Work of this node for signers it holds, on the signers' own workers, so that a lane and the followers never interleave. */
@Injectable()
export class LeasedWork {
  constructor(
    private readonly workers: SignerWorkers,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
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
    if (ours.length === 0) return;
    try {
      await task([...held.values()], ours);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.leases.lost(error);
      this.memory.forget(error.leases.map(({ signer }) => signer));
    }
  }
}
