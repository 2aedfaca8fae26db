import { Injectable } from '@nestjs/common';
import type { ChainUpdate } from '../../chain/index.js';
import { RecheckReceipts } from './recheck-receipts.js';
import { MatchAttempts } from './match-attempts.js';
import { ReopenFinal } from './reopen-final.js';
import { Finalizer } from './finalizer.js';

/** What a stretch of the chain means for our transactions. May be repeated: what is done already is left alone. */
@Injectable()
export class ApplyChainUpdate {
  constructor(
    private readonly recheckReceipts: RecheckReceipts,
    private readonly match: MatchAttempts,
    private readonly settle: Finalizer,
    private readonly reopen: ReopenFinal,
  ) {}

  async execute(update: ChainUpdate): Promise<void> {
    const { chainId, head, blocks, orphaned, gap } = update;
    if (gap) await this.recheckReceipts.forAll(chainId);
    // First what is gone, so that a tx that was mined again in a new block is open when that block is matched.
    await this.settle.undo(
      chainId,
      orphaned.map(({ hash }) => hash),
    );
    await this.reopen.execute(update);
    await this.match.execute(chainId, blocks);
    await this.settle.execute(chainId, head);
  }
}
