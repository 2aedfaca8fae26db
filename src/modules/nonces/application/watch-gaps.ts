import { Injectable } from '@nestjs/common';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog } from '../../events/index.js';
import { BegunWork, LaneMemory, WriteChanges } from '../../ledger/index.js';
import { type Fence, type Lease, LeaseManager, type MovedGap, NonceLedger } from '../../signers/index.js';

/** Stores the lowest nonce gaps of signers, and tells each once, whoever owns the signer. */
@Injectable()
export class TellGaps {
  constructor(
    private readonly ledger: NonceLedger,
    private readonly write: WriteChanges,
    private readonly events: EventLog,
    private readonly memory: LaneMemory,
    private readonly log: Log,
  ) {}

  async execute(leases: readonly Lease[]): Promise<void> {
    const moved: MovedGap[] = [];
    await this.write.underFence(leases, 'gaps', async (fence) => {
      moved.push(
        ...(await this.ledger.noteGaps(
          fence,
          leases.map(({ signer }) => signer),
        )),
      );
      await this.tell(fence, moved);
      return {};
    });
    // Where the chain used it without our knowledge, its slot must not be given out again.
    for (const { signer, before } of moved) if (before !== null) this.memory.alignAgain(signer);
    for (const { signer, before, gap } of moved)
      if (gap === null)
        this.log.info('nonce gap of an external signer closed', { signer: signerKey(signer), nonce: before });
      else this.log.warn('nonce gap that outside senders have to close', { signer: signerKey(signer), nonce: gap });
  }

  private async tell(fence: Fence, moved: readonly MovedGap[]): Promise<void> {
    await this.events.appendOfSigners(
      fence.tx,
      fence,
      moved.map(({ signer, before, gap }) => ({
        signer,
        reason: gap === null ? 'nonce_gap_closed' : 'nonce_gap',
        detail: { nonce: toJsonInteger(gap ?? before ?? 0n) },
      })),
    );
  }
}

/**
 * Watches the nonce gaps of signers whose keys outside senders have: nobody here can fill them. Only the lowest one is told, because what is above it
 * waits for it; when it is closed, the next one is. A reserve gets it first. Where the key has come here since, the gap is closed as far as they have
 * to know: Lockstep fills it.
 */
@Injectable()
export class WatchGaps {
  constructor(
    private readonly leases: LeaseManager,
    private readonly ledger: NonceLedger,
    private readonly work: BegunWork,
    private readonly tell: TellGaps,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const held = this.leases.heldOn(chainId).map(({ signer }) => signer);
    const moved = await this.ledger.movedGaps(held);
    await this.work.run(chainId, moved, (leases) => this.tell.execute(leases));
  }
}
