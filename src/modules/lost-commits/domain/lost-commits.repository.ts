import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Fence } from '../../signers/index.js';
import type { RequestedTx } from '../../transactions/index.js';

/** A nonce below the cursor for which no bytes are known. */
export interface OpenNonce {
  readonly nonce: Nonce;
  /** The tx that holds the slot and has no attempt; null for a released slot. */
  readonly txId: string | null;
}

/** What the database knows of a signer's sequence, as far as transactions may be out that it does not know. */
export interface SignerOutlook {
  readonly signer: SignerId;
  /** 0 for a signer that never had one. */
  readonly cursor: Nonce;
  readonly open: readonly OpenNonce[];
  /**
   * Whether anybody acted for the signer before, by what this database knows, or it is suspect. If not, whatever its key sent was not
   * sent for a tx of this database.
   */
  readonly known: boolean;
  /** The epoch in which the signer was last reconciled is over. */
  readonly suspect: boolean;
}

/** What must be known before a lane goes on in a database that may have lost commits. */
export abstract class LostCommitsRepository {
  /** In the order given. */
  abstract outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]>;
  /**
   * Seconds since 1970, by the database clock: nothing that waits now was sent before. Null when nothing waits.
   */
  abstract waitingSince(signer: SignerId): Promise<number | null>;
  /** Waiting txs with the payload of one of these, oldest first. */
  abstract waitingFor(signer: SignerId, payloads: readonly SentTransaction[]): Promise<RequestedTx[]>;
  /** The signers are reconciled in the present epoch. */
  abstract reconciled(fence: Fence, signers: readonly SignerId[]): Promise<void>;
}
