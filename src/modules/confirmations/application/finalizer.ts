import { FinalityEvidence } from './finality-evidence.js';
import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { LeaseManager } from '../../signers/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';
import { ProvenFinality } from './proven-finality.js';
import { SettleTxs } from './settle-txs.js';

const MAX_TXS_AT_ONCE = 1_000;

/**
 * Makes MINED txs final when their block is deep enough and, by its hash, still canonical; for success and revert alike
 * (docs/invariants.md, I9). A tx whose block was orphaned goes back to the mempool.
 */
@Injectable()
export class Finalizer {
  /** How many of the oldest txs could not be decided last time: the next run begins after them, so that they do not block the others. */
  private readonly undecided = new Map<ChainId, number>();

  constructor(
    private readonly leases: LeaseManager,
    private readonly repository: ManagedTxRepository,
    private readonly proven: ProvenFinality,
    private readonly evidence: FinalityEvidence,
    private readonly settle: SettleTxs,
  ) {}

  /** @param head number of the newest followed block */
  async execute(chainId: ChainId, head: number): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const upTo = await this.proven.execute(chainId, signers, head);
    if (upTo === null) return;
    let decided: number;
    do {
      const skip = this.undecided.get(chainId) ?? 0;
      const deep = await this.repository.minedUpTo(chainId, signers, upTo, { skip, limit: MAX_TXS_AT_ONCE });
      const receipts = deep.flatMap((tx) => tx.progress.receipt ?? []);
      decided = await this.settle.execute(chainId, deep, await this.evidence.execute(chainId, receipts, head));
      this.undecided.set(chainId, deep.length < MAX_TXS_AT_ONCE ? 0 : skip + deep.length - decided);
      // Stop when some could not be decided: the next block continues.
    } while (decided === MAX_TXS_AT_ONCE);
  }

  /** Sends txs that were mined in orphaned blocks back to the mempool. */
  async undo(chainId: ChainId, orphaned: readonly Hash[]): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0 || orphaned.length === 0) return;
    const orphanedHashes = new Set(orphaned);
    await this.settle.execute(chainId, await this.repository.minedIn(chainId, signers, orphaned), {
      head: null,
      fresh: new Map(),
      verdictOf: ({ blockHash }) => (orphanedHashes.has(blockHash) ? 'gone' : 'open'),
    });
  }
}
