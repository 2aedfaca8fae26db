import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { agreedHashes, Chains, type ChainUpdate, SecondObservations } from '../../chain/index.js';
import { CompareBooks } from '../../lost-commits/index.js';
import { ReopenNonces } from '../../nonces/index.js';
import { LeaseManager } from '../../signers/index.js';
import { isFinal, LeasedWork, ManagedTx, ManagedTxRepository, MinedTxs, WriteChanges } from '../../ledger/index.js';
import { newestOf, racesOf, reopenRace } from '../domain/race.js';
import { SuspectBlocks } from './suspect-blocks.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';

/** Sends final txs whose blocks were orphaned back to the mempool. */
@Injectable()
export class ReopenTxs {
  constructor(
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** @param gone hashes of orphaned blocks */
  async execute(chainId: ChainId, final: readonly ManagedTx[], gone: ReadonlySet<Hash>): Promise<void> {
    await this.work.run(chainId, final, async (leases, share) => {
      // Read again: the signer's worker may have changed them since.
      const txs = (await this.repository.byIds(share.map((tx) => tx.id))).filter(
        ({ state, progress: { receipt } }) => isFinal(state) && receipt !== null && gone.has(receipt.blockHash),
      );
      const races = racesOf(txs, await this.repository.rivals(txs));
      const orphaned = new Map(txs.map((tx) => [tx.id, tx.progress.receipt?.txHash ?? '']));
      for (const tx of txs) {
        this.log.error('final transaction orphaned by a reorg', {
          txId: tx.id,
          state: tx.state,
          block: tx.progress.receipt?.blockNumber,
        });
        tx.reorged();
      }
      const rivals = races.flatMap((race) => reopenRace(race, orphaned.get(race.winner.id) ?? ''));
      const reopened = races.map(({ winner, rivals: others }) => ({
        signer: winner.signer,
        nonce: winner.nonce,
        holder: newestOf([winner, ...others.filter(({ state }) => state === 'IN_MEMPOOL')])?.id ?? winner.id,
      }));
      await this.write.execute(leases, 'reopen', {
        txs: [...txs, ...rivals],
        slots: { reopened },
        attempts: { reopened: txs },
      });
      this.metrics.count('confirmations_newFork_total', txs.length);
    });
  }
}

/** Blocks between two looks at final txs of another chain with the same id, as long as no block is newly suspected. */
const REST_BLOCKS = 64;

/** Final txs in suspected blocks. */
interface OrphanedTxs {
  /** Another block is canonical at the height of theirs. */
  readonly gone: readonly ManagedTx[];
  /** The canonical block at their height is not known, or the chain may be another one. */
  readonly open: readonly ManagedTx[];
  /** There are some, and all of them are known to be on another chain. */
  readonly areElsewhere: boolean;
}

/**
 * Reopens final txs and consumed nonces after a reorg that is deeper than finality (docs/architecture.md, Reorg). Their signers may be idle
 * and have no owner, so this node takes every free lease: no other node may be following the chain. Txs of other nodes are checked again
 * with every block until their owner has reopened them.
 */
@Injectable()
export class ReopenFinal {
  /** By the number of a block. The final txs of a chain that was reset stay suspected, and there may be very many. */
  private readonly restsUntil = new Map<ChainId, number>();

  constructor(
    private readonly suspects: SuspectBlocks,
    private readonly mined: MinedTxs,
    private readonly chains: Chains,
    private readonly observations: SecondObservations,
    private readonly leases: LeaseManager,
    private readonly reopenTxs: ReopenTxs,
    private readonly reopenNonces: ReopenNonces,
    private readonly books: CompareBooks,
  ) {}

  /** Whether to check the chain again with the next block. */
  isWaiting(chainId: ChainId): boolean {
    return this.suspects.isWaiting(chainId) || this.reopenNonces.isWaiting(chainId);
  }

  async execute(update: ChainUpdate): Promise<void> {
    const { chainId, head } = update;
    const { blocks, lowest, hasNew, keep } = await this.suspects.after(update);
    const rests = !hasNew && head < (this.restsUntil.get(chainId) ?? 0);
    const txs = lowest === null || rests ? [] : await this.mined.finalIn(chainId, lowest, [...blocks.keys()]);
    const { gone, open, areElsewhere } = await this.orphanedOf(chainId, txs);
    if (areElsewhere) this.restsUntil.set(chainId, head + REST_BLOCKS);
    else if (!rests) this.restsUntil.delete(chainId);
    if (gone.length > 0) await this.leases.takeFree(signersOf(gone));
    await this.reopenTxs.execute(chainId, gone, new Set(blocks.keys()));
    await this.reopenNonces.execute(chainId, hasNew ? lowest : null);
    // All final txs in suspected blocks are on the chain: the blocks are suspects no more.
    if (!rests && gone.length === 0 && open.length === 0) blocks.clear();
    keep();
  }

  /**
   * Asks the chain which final txs were orphaned. Stored or followed blocks are not enough to reopen a tx: the endpoints must agree on
   * another block at its height, by the evidence of `reopen_final` (docs/trust.md), and the chain must be the one on which it was executed: on
   * another one with the same id it would be executed again (docs/invariants.md, K8).
   */
  private async orphanedOf(chainId: ChainId, txs: readonly ManagedTx[]): Promise<OrphanedTxs> {
    if (txs.length === 0) return { gone: [], open: [], areElsewhere: false };
    const isSame = await this.books.onSameChain(chainId, signersOf(txs));
    const here = new Set(txs.filter((tx) => isSame(tx.signer) === true));
    const heights = [...here].flatMap(({ progress }) => progress.receipt?.blockNumber ?? []);
    const hashes = await this.provenHashes(chainId, heights);
    const hashOf = ({ progress: { receipt } }: ManagedTx): Hash | null =>
      receipt && (hashes.get(receipt.blockNumber) ?? null);
    return {
      gone: [...here].filter((tx) => hashOf(tx) !== null && hashOf(tx) !== tx.progress.receipt?.blockHash),
      open: txs.filter((tx) => !here.has(tx) || hashOf(tx) === null),
      areElsewhere: txs.every((tx) => isSame(tx.signer) === false),
    };
  }

  /** Canonical hashes by height; null where a single endpoint observed it only once. Heights without a known hash are missing. */
  private async provenHashes(chainId: ChainId, heights: readonly number[]): Promise<ReadonlyMap<number, Hash | null>> {
    const chain = this.chains.get(chainId);
    const agreed = [...(await agreedHashes(chain, heights))];
    const head = agreed.some(([, { isAlone }]) => isAlone) ? await chain.head() : null;
    return new Map(
      agreed.map(([height, { value, isAlone }]) => {
        const isProven =
          head === null ||
          !isAlone ||
          this.observations.agree('reopen_final', `reopen ${chainId} ${height}`, value, head);
        return [height, isProven ? value : null];
      }),
    );
  }
}
