import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { readingAhead } from '../../../kernel/reading-ahead.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type Block, type ChainReceipts, Chains, VerifiedReceipts } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  LaneMemory,
  LeasedWork,
  ManagedTxRepository,
  WriteChanges,
} from '../../ledger/index.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';

/** Makes receipts due for the next run of the receipt checker, when following the chain block by block did not find them. */
@Injectable()
export class RecheckReceipts {
  constructor(
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly memory: LaneMemory,
  ) {}

  /** For a gap in the followed blocks: our txs may be mined in it. */
  async forAll(chainId: ChainId): Promise<void> {
    const left = await this.work.run(chainId, this.leases.heldOn(chainId), async (leases) => {
      await this.write.receiptsDue(leases, 'recheck');
    });
    // Recovery makes all receipts due, too: signers that were left out now are recovered in their next step.
    this.memory.forget(left.map(({ signer }) => signer));
  }

  /**
   * For attempts that are in a block, and for which the node had no receipt yet.
   * @returns the attempts whose txs could not be changed now
   */
  execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<Attempt[]> {
    return this.work.run(chainId, attempts, async (leases, share) => {
      const txs = (await this.repository.byIds(share.map(({ txId }) => txId))).filter(
        (tx) => tx.state === 'IN_MEMPOOL',
      );
      for (const tx of txs) tx.receiptMissing(0);
      await this.write.execute(leases, 'recheck', { txs });
    });
  }
}

/**
 * Finds our attempts in new blocks: one indexed query for all hashes, receipts only for matches (docs/architecture.md, Block to CONFIRMED).
 * Receipts that cannot be read must not stop the head tracker: the receipt checker reads them by hash, a few at a time.
 */
@Injectable()
export class MatchAttempts {
  /** Attempts in earlier blocks that could not be recorded, or whose signers belonged to other nodes; most are recorded by other nodes. */
  private readonly missed = new Map<ChainId, readonly Attempt[]>();

  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly attempts: AttemptRepository,
    private readonly recordMined: RecordMined,
    private readonly recheckReceipts: RecheckReceipts,
    private readonly receipts: VerifiedReceipts,
  ) {}

  async execute(chainId: ChainId, blocks: readonly Block[]): Promise<void> {
    const matches = await this.attempts.byHashes(
      chainId,
      blocks.flatMap((block) => block.transactionHashes),
    );
    await this.recheckMissed(chainId, matches);
    const ours = matches.filter(({ signer }) => this.leases.held(signer) !== null);
    if (ours.length === 0) {
      // What was not proven yet is looked at again with each block.
      await this.recordMined.execute(chainId, []);
      return;
    }
    const found = await this.recordEach(chainId, blocks, ours);
    const left = await this.recheckReceipts.execute(
      chainId,
      ours.filter(({ txHash }) => !found.has(txHash)),
    );
    this.missed.set(chainId, [...(this.missed.get(chainId) ?? []), ...left]);
  }

  /**
   * Records block by block, and reads the next block meanwhile: after a large block, whose receipts take long to read, several blocks wait,
   * and each write makes room in flight for waiting txs.
   *
   * @returns hashes of the recorded attempts
   */
  private async recordEach(
    chainId: ChainId,
    blocks: readonly Block[],
    ours: readonly Attempt[],
  ): Promise<ReadonlySet<Hash>> {
    const chain = this.chains.get(chainId);
    const found = new Set<Hash>();
    await readingAhead(
      blocks,
      (block) => this.receiptsOf(chain, block, ours),
      async (mined) => {
        const left = new Set(await this.recordMined.execute(chainId, mined));
        for (const item of mined) if (!left.has(item)) found.add(item.attempt.txHash);
      },
    );
    return found;
  }

  /** A lease that was renewed late is ours again without a change of owner, so no recovery checks its receipts. */
  private async recheckMissed(chainId: ChainId, matches: readonly Attempt[]): Promise<void> {
    const left = await this.recheckReceipts.execute(chainId, this.missed.get(chainId) ?? []);
    const others = matches.filter(({ signer }) => this.leases.held(signer) === null);
    this.missed.set(chainId, [...left, ...others]);
  }

  private async receiptsOf(chain: ChainReceipts, block: Block, ours: readonly Attempt[]): Promise<MinedAttempt[]> {
    const inBlock = new Set(block.transactionHashes);
    const matches = new Map(
      ours.filter(({ txHash }) => inBlock.has(txHash)).map((attempt) => [attempt.txHash, attempt]),
    );
    if (matches.size === 0) return [];
    const receipts = await this.receipts.ofBlock(chain, block, [...matches.keys()]);
    return [...receipts.values()].flatMap((receipt): MinedAttempt[] => {
      const attempt = matches.get(receipt.txHash);
      return attempt ? [{ signer: attempt.signer, attempt, receipt }] : [];
    });
  }
}
