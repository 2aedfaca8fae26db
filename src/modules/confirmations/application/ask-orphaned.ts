import { agreedHashes, Chains, SecondObservations } from '../../chain/index.js';
import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { ManagedTx } from '../../transactions/index.js';

/** Final txs in suspected blocks. */
export interface OrphanedTxs {
  /** Another block is canonical at the height of theirs. */
  readonly gone: readonly ManagedTx[];
  /** The canonical block at their height is not known. */
  readonly open: readonly ManagedTx[];
}

/**
 * Asks the chain which final txs were orphaned. Stored or followed blocks are not enough to reopen a tx: the endpoints must agree on
 * another block at its height, by the evidence of `reopen_final` (docs/trust.md).
 */
@Injectable()
export class AskOrphaned {
  constructor(
    private readonly chains: Chains,
    private readonly observations: SecondObservations,
  ) {}

  async execute(chainId: ChainId, txs: readonly ManagedTx[]): Promise<OrphanedTxs> {
    if (txs.length === 0) return { gone: [], open: [] };
    const heights = txs.flatMap(({ progress }) => progress.receipt?.blockNumber ?? []);
    const hashes = await this.provenHashes(chainId, heights);
    const hashOf = ({ progress: { receipt } }: ManagedTx): Hash | null =>
      receipt && (hashes.get(receipt.blockNumber) ?? null);
    return {
      gone: txs.filter((tx) => hashOf(tx) !== null && hashOf(tx) !== tx.progress.receipt?.blockHash),
      open: txs.filter((tx) => hashOf(tx) === null),
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
