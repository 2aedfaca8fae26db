import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { ChainUpdate } from '../../chain/index.js';
import { HoldBehind } from '../../lost-commits/index.js';
import { LeaseManager } from '../../signers/index.js';
import { MatchAttempts, RecheckReceipts } from './match-attempts.js';
import { ReopenFinal } from './reopen-final.js';
import { Finalizer } from './finalizer.js';

/** Applies new and orphaned blocks to our txs. May be repeated: a second run with the same blocks changes nothing. */
@Injectable()
export class ApplyChainUpdate {
  constructor(
    private readonly recheckReceipts: RecheckReceipts,
    private readonly match: MatchAttempts,
    private readonly finalizer: Finalizer,
    private readonly reopen: ReopenFinal,
    private readonly behind: HoldBehind,
    private readonly leases: LeaseManager,
  ) {}

  async execute(update: ChainUpdate): Promise<void> {
    const { chainId, head, blocks, orphaned, gap } = update;
    if (gap) await this.recheckReceipts.forAll(chainId);
    // Orphaned blocks first, so that a tx that was mined again in a new block is open when that block is matched.
    await this.finalizer.undo(
      chainId,
      orphaned.map(({ hash }) => hash),
    );
    await this.reopen.execute(update);
    await this.match.execute(chainId, blocks);
    const settled = await this.finalizer.finalize(chainId, head);
    if (gap || orphaned.length > 0) await this.lookAtBooks(chainId);
    else await this.behind.look(chainId, settled, false);
  }

  /** Of all signers of this node: what the chain shows may be another chain. */
  async lookAtBooks(chainId: ChainId): Promise<void> {
    const leases = this.leases.heldOn(chainId);
    await this.behind.look(
      chainId,
      leases.map(({ signer }) => signer),
    );
  }
}
