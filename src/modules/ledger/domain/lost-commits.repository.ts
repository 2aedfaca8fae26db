import type { Hash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Fence, SlotRef } from '../../signers/index.js';
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

/** Why a signer is held, for its event and for operators. Nonces are JSON integers. */
export interface ChainBehind extends JsonObject {
  /** `CHAIN_RESET`: the first blocks of the chain are others. `LOWER_NONCE`: they are the same, and it used fewer nonces. */
  readonly cause: 'CHAIN_RESET' | 'LOWER_NONCE';
  readonly chainNonce: number | string | null;
  /** All nonces below it were used, by what we saw final. */
  readonly usedBelow: number | string;
  readonly block: { readonly number: number; readonly hash: string } | null;
}

/** With the time since when, as ISO 8601. */
export type ChainBehindSince = ChainBehind & { readonly since: string };

/** What the database calls used of a signer's nonces, and on which chain. */
export interface Books {
  readonly signer: SignerId;
  /** False for a signer that never had a cursor. */
  readonly begun: boolean;
  /** The nonce above the highest consumed one; 0 when none is. */
  readonly usedBelow: Nonce;
  /** Number of the block of the highest consumed nonce; 0 when it is not known. */
  readonly block: number;
  /** Hashes of the first blocks of the chain, from block 0 on, as far as they are stored. */
  readonly origin: readonly string[];
  readonly behind: ChainBehind | null;
}

/** Reads and writes what is needed to reconcile signers after a database may have lost commits. */
export abstract class LostCommitsRepository {
  /** In the order given. */
  abstract outlook(signers: readonly SignerId[]): Promise<SignerOutlook[]>;
  /** The txs in flight that hold these nonces. */
  abstract holders(signer: SignerId, nonces: readonly Nonce[]): Promise<RequestedTx[]>;
  /** The hashes that the outside senders of these holds have named. */
  abstract named(holdIds: readonly string[]): Promise<ReadonlySet<Hash>>;
  /** Seconds since 1970, by the database clock: nothing that was lost was sent before. Null when no tx waits or is in flight. */
  abstract waitingSince(signer: SignerId): Promise<number | null>;
  /**
   * Waiting txs, and payloads in flight that nothing competes with, with one of these payloads: equal in receiver, value and data besides the parts of
   * permits. Oldest first.
   * @param most of each payload; those with its very data before others with permits, and those that wait before those in flight
   */
  abstract withPayloadOf(signer: SignerId, payloads: readonly SentTransaction[], most: number): Promise<RequestedTx[]>;
  /** Those of the signers that were not reconciled in the current epoch. */
  abstract suspects(tx: Tx, signers: readonly SignerId[]): Promise<SignerId[]>;
  /**
   * Stores that a signer is reconciled in this epoch: the one in which it was searched. A later one may have begun since. What is in flight, and is
   * stored as never sent, counts as sent from now on.
   * @param leaving ids of txs whose nonces were out with bytes of others: that nothing of them was sent is shown by that
   */
  abstract reconciled(fence: Fence, signer: SignerId, epoch: number, leaving: readonly string[]): Promise<void>;
  /** These txs were sent with permits whose commits are lost: nobody knows their nonces, and no other permit gets one before they are mined. */
  abstract permitsLost(fence: Fence, txIds: readonly string[]): Promise<void>;
  /** In the order given. */
  abstract books(signers: readonly SignerId[]): Promise<Books[]>;
  /** Slots of the signer from this nonce on that were used for good, lowest first; null for the tx of a foreign transaction. */
  abstract consumedFrom(
    from: SlotRef,
    limit: number,
  ): Promise<{ readonly nonce: Nonce; readonly txId: string | null }[]>;
  /** Stores the first blocks of the chain of a signer that has a cursor. */
  abstract noteOrigin(fence: Fence, signer: SignerId, origin: readonly string[]): Promise<void>;
  /** Stores that the chain is behind the books of a signer, or that it is not any more. */
  abstract markBehind(fence: Fence, signer: SignerId, behind: ChainBehind | null): Promise<void>;
}
