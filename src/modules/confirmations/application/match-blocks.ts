import { Injectable } from '@nestjs/common';
import { type Block, type ChainConnector, Chains } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { type Attempt, AttemptRepository } from '../../transactions/index.js';
import { AskAgain } from './ask-again.js';
import { ReadReceipts } from './read-receipts.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';

/**
 * Finds our attempts in new blocks: one indexed query for all hashes, receipts only for matches (design, section 10). Receipts
 * that cannot be had must not keep the chain from being followed: they are asked for by hash then, a few at a time.
 */
@Injectable()
export class MatchBlocks {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly attempts: AttemptRepository,
    private readonly recordMined: RecordMined,
    private readonly askAgain: AskAgain,
    private readonly receipts: ReadReceipts,
  ) {}

  async execute(chainId: number, blocks: readonly Block[]): Promise<void> {
    const ours = (
      await this.attempts.byHashes(
        chainId,
        blocks.flatMap((block) => block.transactionHashes),
      )
    ).filter(({ signer }) => this.leases.held(signer) !== null);
    if (ours.length === 0) return;
    const chain = this.chains.get(chainId);
    const mined = (await Promise.all(blocks.map((block) => this.receiptsOf(chain, block, ours)))).flat();
    await this.recordMined.execute(chainId, mined);
    const found = new Set(mined.map(({ attempt }) => attempt.txHash));
    await this.askAgain.execute(
      chainId,
      ours.filter(({ txHash }) => !found.has(txHash)),
    );
  }

  private async receiptsOf(chain: ChainConnector, block: Block, ours: readonly Attempt[]): Promise<MinedAttempt[]> {
    const inBlock = new Set(block.transactionHashes);
    const matches = new Map(
      ours.filter(({ txHash }) => inBlock.has(txHash)).map((attempt) => [attempt.txHash, attempt]),
    );
    if (matches.size === 0) return [];
    const receipts = await this.receipts.atOnce(chain, block, [...matches.keys()]);
    return [...receipts.values()].flatMap((receipt): MinedAttempt[] => {
      const attempt = matches.get(receipt.txHash);
      return attempt ? [{ signer: attempt.signer, attempt, receipt }] : [];
    });
  }
}
