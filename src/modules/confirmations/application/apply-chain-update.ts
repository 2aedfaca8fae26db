import { Injectable } from '@nestjs/common';
import type { ChainUpdate } from '../../chain/index.js';
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
    await this.finalizer.finalize(chainId, head);
  }
}
