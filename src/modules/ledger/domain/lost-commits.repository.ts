import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Fence } from '../../signers/index.js';
import type { RequestedTx } from './managed-tx.repository.js';

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
  /** The lowest nonce of a tx in flight; null when none is. Any of their attempts may be lost. */
  readonly inFlightFrom: Nonce | null;
  /**
   * True when this database shows that a node acted for the signer before, or when the signer is suspect. If false, its key sent nothing
   * for a tx of this database.
   */
  readonly known: boolean;
  /** The database may have lost commits since the signer was last reconciled: a new epoch began. */
  readonly suspect: boolean;
  /** The number of the newest epoch when this was read. */
  readonly epoch: number;
}

/** Reads and writes what is needed to reconcile signers after a database may have lost commits. */
export abstract class LostCommitsRepository {
  /** In the order given. */
  abstract outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]>;
  /** The txs in flight that hold these nonces. */
  abstract holders(signer: SignerId, nonces: readonly Nonce[]): Promise<RequestedTx[]>;
  /** Seconds since 1970, by the database clock: nothing that was lost was sent before. Null when no tx waits or is in flight. */
  abstract waitingSince(signer: SignerId): Promise<number | null>;
  /** Waiting txs, and payloads in flight that nothing competes with, with one of these payloads. Oldest first. */
  abstract withPayloadOf(signer: SignerId, payloads: readonly SentTransaction[]): Promise<RequestedTx[]>;
  /** Those of the signers that were not reconciled in the current epoch. */
  abstract suspects(tx: Tx, signers: readonly SignerId[]): Promise<SignerId[]>;
  /** Stores that a signer is reconciled in this epoch: the one in which it was searched. A later one may have begun since. */
  abstract reconciled(fence: Fence, signer: SignerId, epoch: number): Promise<void>;
}
