import type { Tx } from '../../../kernel/unit-of-work.js';
import type { BlobSidecar } from '../../chain/index.js';

/** The sidecars of blob transactions. Those of new txs are stored with them ({@link TxIntake.insertPending}). */
export abstract class BlobRepository {
  /** By tx id; a tx whose sidecar was deleted has no entry. */
  abstract sidecars(txIds: readonly string[]): Promise<ReadonlyMap<string, BlobSidecar>>;
  /** Gives a tx that has no nonce another sidecar, or none. */
  abstract replace(tx: Tx, txId: string, sidecar: BlobSidecar | undefined): Promise<void>;
  /**
   * Deletes sidecars of txs that have been final for an hour: only a deep reorg could want them again.
   * @returns how many blobs were deleted, at most `limit`
   */
  abstract prune(limit: number): Promise<number>;
}
