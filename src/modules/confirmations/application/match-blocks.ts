import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { Log } from '../../../platform/logging/log.js';
import { type Block, type ChainConnector, Chains, type Receipt, RpcUnavailable } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { type Attempt, AttemptRepository } from '../../transactions/index.js';
import { AskAgain } from './ask-again.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';

/** From here on, one call for the receipts of the whole block is cheaper than one for each of ours. */
const WHOLE_BLOCK_FROM = 2;

/** Finds our attempts in new blocks: one indexed query for all hashes, receipts only for matches (design, section 10). */
@Injectable()
export class MatchBlocks {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly attempts: AttemptRepository,
    private readonly recordMined: RecordMined,
    private readonly askAgain: AskAgain,
    private readonly log: Log,
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
    const receipts = await this.ask(chain, block, [...matches.keys()]);
    return (receipts ?? []).flatMap((receipt): MinedAttempt[] => {
      const attempt = matches.get(receipt.txHash);
      // A receipt from another block means a reorg between two questions; that block will be walked, too.
      return attempt && receipt.blockHash === block.hash ? [{ signer: attempt.signer, attempt, receipt }] : [];
    });
  }

  /**
   * No answer must not keep the chain from being followed: the receipts are asked for by hash then, a few at a time. Some nodes
   * take longer for those of a very large block than anybody waits.
   */
  private async ask(chain: ChainConnector, block: Block, hashes: readonly Hash[]): Promise<Receipt[] | null> {
    try {
      return hashes.length >= WHOLE_BLOCK_FROM
        ? await chain.blockReceipts(block.hash)
        : await receiptsByHash(chain, hashes);
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      const { number, transactionHashes } = block;
      const transactions = transactionHashes.length;
      this.log.warn('receipts of a block cannot be had', {
        chainId: chain.chainId,
        block: number,
        transactions,
        error,
      });
      return null;
    }
  }
}

async function receiptsByHash(chain: ChainConnector, hashes: readonly Hash[]): Promise<Receipt[]> {
  const lookups = await chain.receipts(hashes);
  return lookups.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.receipt] : []));
}
