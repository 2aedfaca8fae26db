import type { ChainId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { Fence } from '../../signers/index.js';
import type { ManagedTx } from './managed-tx.js';
import type { TxRequest } from './tx-request.js';

/**
 * The txs that commands are about, and those that expire. Changes of txs that wait without a nonce need no lease: the row lock decides between
 * a client and the lane, which takes only rows that are PENDING and unchanged (docs/decisions/0022-commands.md).
 */
export abstract class CommandedTxs {
  /** Locks the row until the end of the database transaction. Null for an unknown id. */
  abstract lock(tx: Tx, txId: string): Promise<ManagedTx | null>;
  /** Whether the payload of the tx has blobs. */
  abstract hasBlobs(tx: Tx, txId: string): Promise<boolean>;
  /** Writes a locked tx that was PENDING with its events, and its request and blobs if that was replaced. */
  abstract savePending(tx: Tx, managed: ManagedTx, request: TxRequest | null, actor: string): Promise<void>;
  /**
   * Stores a replacement with its blobs. No lane takes it before its command is carried out.
   * @returns false, and nothing is stored, when a tx of the signer has this requestId
   */
  abstract insertReplacement(tx: Tx, txId: string, request: TxRequest, replaces: string): Promise<boolean>;
  /** Whether the `expiresAt` of a tx has passed by the database clock. */
  abstract hasExpired(txId: string): Promise<boolean>;
  /** Under the fence: whether a pause of an operator holds for the signer or the account of a tx, so that it is not signed, and the mark of the policies that hold. */
  abstract standing(fence: Fence, txId: string): Promise<{ readonly isPaused: boolean; readonly policyMark: string }>;
  /**
   * Txs that are not mined, whose `expiresAt` has passed by the database clock, and whose slots are not being closed yet: at most this many of
   * each signer, the longest due first.
   */
  abstract expired(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]>;
  /** Raises the version of a locked tx, so that what was decided about an older copy is not written. */
  abstract outdateCopies(tx: Tx, txId: string): Promise<void>;
  /** Whether a hold was reserved a day ago, which is the longest that one with an end lasts. */
  abstract hasLastedLongest(tx: Tx, txId: string): Promise<boolean>;
  /** A hold that nothing was sent for, and that has an end, lasts this many seconds from now on, or until it has lasted longest; never less than before. */
  abstract extend(fence: Fence, tx: ManagedTx, ttl: number): Promise<void>;
  /** Expired txs that could not be closed now are due again after these milliseconds. */
  abstract postponeClosing(later: readonly { readonly id: string; readonly inMs: number }[]): Promise<void>;
}
