import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { ManagedTx, TxRequest } from '../../transactions/index.js';
import type { Decision, TxCommand } from './tx-command.js';

/**
 * Commands, and the changes of txs that wait without a nonce. These need no lease: the row lock decides between a client and the lane, which
 * takes only rows that are PENDING and unchanged (docs/decisions/0022-commands.md).
 */
export abstract class CommandStore {
  /** Locks the row until the end of the database transaction. Null for an unknown id. */
  abstract lock(tx: Tx, txId: string): Promise<ManagedTx | null>;
  abstract find(tx: Tx, signer: SignerId, requestId: string): Promise<TxCommand | null>;
  /** Whether a replace of the tx waits for its owner. */
  abstract hasQueuedReplace(tx: Tx, txId: string): Promise<boolean>;
  /** Whether the payload of the tx has blobs. */
  abstract hasBlobs(tx: Tx, txId: string): Promise<boolean>;
  /** @throws Conflict `idempotency_conflict` when another command took the key meanwhile */
  abstract insert(tx: Tx, command: TxCommand): Promise<void>;
  /** Writes a locked tx that was PENDING, and its request and blobs if that was replaced. */
  abstract savePending(tx: Tx, managed: ManagedTx, request: TxRequest | null): Promise<void>;
  /**
   * Stores a replacement with its blobs. No lane takes it before its command is carried out.
   * @throws Conflict `idempotency_conflict` when a tx of the signer has this requestId
   */
  abstract insertReplacement(tx: Tx, txId: string, request: TxRequest, replaces: string): Promise<void>;

  /** Commands that wait for the owner, oldest first. */
  abstract queued(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<TxCommand[]>;
  /** Whether a command waits for its owner still. */
  abstract isQueued(commandId: string): Promise<boolean>;
  /** @param tx in which it is written; a database transaction of its own by default */
  abstract decide(decisions: readonly Decision[], tx?: Tx): Promise<void>;
  /** All commands about a tx, oldest first. */
  abstract ofTx(txId: string): Promise<TxCommand[]>;
  /** Whether the `expiresAt` of a tx has passed by the database clock. */
  abstract hasExpired(txId: string): Promise<boolean>;
  /** Txs in flight whose `expiresAt` has passed by the database clock, and whose slots are not being closed yet. */
  abstract expired(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]>;
}
