import { Injectable } from '@nestjs/common';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import type { ChainUpdate } from '../../chain/index.js';
import { ReopenNonces } from '../../nonces/index.js';
import { LeaseManager } from '../../signers/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';
import { AskOrphaned } from './ask-orphaned.js';
import { ReopenTxs } from './reopen-txs.js';
import { SuspectBlocks } from './suspect-blocks.js';

/**
 * Reopens final txs and consumed nonces after a reorg that is deeper than finality (docs/architecture.md, Reorg). Their signers may be idle
 * and have no owner, so this node takes every free lease: no other node may be following the chain. Txs of other nodes are checked again
 * with every block until their owner has reopened them.
 */
@Injectable()
export class ReopenFinal {
  constructor(
    private readonly suspects: SuspectBlocks,
    private readonly repository: ManagedTxRepository,
    private readonly ask: AskOrphaned,
    private readonly leases: LeaseManager,
    private readonly reopenTxs: ReopenTxs,
    private readonly reopenNonces: ReopenNonces,
  ) {}

  /** Whether to check the chain again with the next block. */
  isWaiting(chainId: ChainId): boolean {
    return this.suspects.isWaiting(chainId) || this.reopenNonces.isWaiting(chainId);
  }

  async execute(update: ChainUpdate): Promise<void> {
    const { chainId } = update;
    const { blocks, lowest, hasNew, keep } = await this.suspects.execute(update);
    const txs = lowest === null ? [] : await this.repository.finalIn(chainId, lowest, [...blocks.keys()]);
    const { gone, open } = await this.ask.execute(chainId, txs);
    if (gone.length > 0) await this.leases.takeFree(signersOf(gone));
    await this.reopenTxs.execute(chainId, gone, new Set(blocks.keys()));
    await this.reopenNonces.execute(chainId, hasNew ? lowest : null);
    // All final txs in suspected blocks are on the chain: the blocks are suspects no more.
    if (gone.length === 0 && open.length === 0) blocks.clear();
    keep();
  }
}
