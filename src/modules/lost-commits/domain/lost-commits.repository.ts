import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Fence } from '../../signers/index.js';
import type { RequestedTx } from '../../transactions/index.js';

/** A nonce below the cursor for which the database has no bytes. */
export interface OpenNonce {
  readonly nonce: Nonce;
  /** The tx that holds the slot and has no attempt; null for a released slot. */
  readonly txId: string | null;
}

/** The database's knowledge of a signer's nonces that is needed to find sent transactions that it does not know. */
export interface SignerOutlook {
  readonly signer: SignerId;
  /** 0 for a signer that never had a cursor. */
  readonly cursor: Nonce;
  readonly open: readonly OpenNonce[];
  /**
   * True when this database shows that a node acted for the signer before, or when the signer is suspect. If false, its key sent nothing
   * for a tx of this database.
   */
  readonly known: boolean;
  /** The database may have lost commits since the signer was last reconciled: a new epoch began. */
  readonly suspect: boolean;
}

/** Reads and writes what is needed to reconcile signers after a database may have lost commits. */
export abstract class LostCommitsRepository {
  /** In the order given. */
  abstract outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]>;
  /** Seconds since 1970, by the database clock: no tx that waits now was sent before. Null when no tx waits. */
  abstract waitingSince(signer: SignerId): Promise<number | null>;
  /** Waiting txs with one of these payloads, oldest first. */
  abstract waitingFor(signer: SignerId, payloads: readonly SentTransaction[]): Promise<RequestedTx[]>;
  /** Stores that the signers are reconciled in the current epoch. */
  abstract reconciled(fence: Fence, signers: readonly SignerId[]): Promise<void>;
}
