import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence, SlotRef } from '../../signers/index.js';
import type { FinalHeights } from '../../chain/index.js';
import type { ManagedTx } from './managed-tx.js';
import type { QueuePosition } from './queue-position.js';
import type { TxState } from './tx-state-machine.js';
import type { StoredRequest, TxRequest } from './tx-request.js';

export interface NewTx {
  readonly txId: string;
  readonly request: TxRequest;
  /** Whether some live node has the key of its signer; else it is not stored, only looked up. */
  readonly isServed: boolean;
}

/** What exists under a `(signer, requestId)`. */
export interface AcceptedTx {
  readonly txId: string;
  readonly state: TxState;
  readonly nonce: bigint | null;
  readonly txHash: Hash | null;
  readonly requestHash: Hash;
}

/** What became of one request of an intake batch. */
export type Intake =
  | { readonly kind: 'created'; readonly txId: string }
  /** The key was used before; whether for the same request is for the caller to compare. */
  | { readonly kind: 'exists'; readonly tx: AcceptedTx }
  | { readonly kind: 'unknown_signer' }
  | { readonly kind: 'unserved_signer' };

/** A tx with what the client asked for: all that is needed to sign it. */
export interface RequestedTx {
  readonly tx: ManagedTx;
  readonly request: StoredRequest;
}

export interface PendingTx extends RequestedTx {
  /** By the database clock. */
  readonly expired: boolean;
  /** It was postponed before, and its timer has run out. */
  readonly wasTried: boolean;
}

/** How many waiting txs of a signer are asked for. */
export interface SignerRoom {
  readonly signer: SignerId;
  readonly room: number;
  /** Where the look begins among txs that were not tried, except for those of a higher priority; without it, at the first. */
  readonly after?: QueuePosition | null;
}

/** Managed txs. Reads and intake need no lease; everything that moves a tx forward needs the fence. */
export abstract class ManagedTxRepository {
  /** All in one statement and one commit; answers in the order given. */
  abstract insertPending(txs: readonly NewTx[]): Promise<Intake[]>;

  /** How many txs of each signer have a nonce and are not mined, in the order given; counting ends at `upTo`. */
  abstract countInFlight(signers: readonly SignerId[], upTo: number): Promise<number[]>;
  /**
   * The next waiting txs of each signer, by priority. Of one priority, those that were not tried, the oldest first, and those that were
   * and whose timer has run out, the longest due first, take turns. What is not due is left out.
   */
  abstract nextPending(wanted: readonly SignerRoom[]): Promise<PendingTx[]>;
  /** Of these, the ones that are still PENDING and nobody else is changing; locked until the end of the transaction. */
  abstract lockPending(fence: Fence, txIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Every ALLOCATED tx of the signers, in nonce order. */
  abstract allocated(signers: readonly SignerId[]): Promise<RequestedTx[]>;
  /** Txs without a receipt whose resubmit timer has run out, oldest first. */
  abstract dueForResubmit(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]>;
  /** Txs in the mempool whose receipt was not asked for too long, oldest first. */
  abstract dueForReceiptCheck(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]>;
  /** Whether the chain has MINED txs, of any signer. */
  abstract anyMined(chainId: ChainId): Promise<boolean>;
  /** MINED txs of the signers that are deep enough, by the chain's rule or by their own; always in the same order. */
  abstract minedUpTo(
    chainId: ChainId,
    signers: readonly SignerId[],
    final: FinalHeights,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<ManagedTx[]>;
  /** MINED txs of the signers in these blocks. */
  abstract minedIn(chainId: ChainId, signers: readonly SignerId[], blockHashes: readonly Hash[]): Promise<ManagedTx[]>;
  /**
   * Txs of any signer that became final in these blocks.
   * @param lowest number of the lowest of them; looks at what was mined from there on only
   */
  abstract finalIn(chainId: ChainId, lowest: number, blockHashes: readonly Hash[]): Promise<ManagedTx[]>;
  /**
   * The newest txs that became final in a block, so many of each signer, by nonce.
   * @param below of the signers of these slots only, and with lower nonces; null: of every signer
   */
  abstract newestFinal(chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]>;
  /** With what the clients asked for, in any order. */
  abstract requested(txIds: readonly string[]): Promise<RequestedTx[]>;
  /**
   * By signer key, the id of the oldest tx that is in flight, or that waits for something but its own estimate; none where there is
   * no such tx.
   * @param besides ids of waiting txs whose estimates revert now
   */
  abstract oldestUnmined(
    signers: readonly SignerId[],
    besides: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /** Wei that what each signer has in flight may take from its balance, in the order given: values, and all gas at its price. */
  abstract committedWei(signers: readonly SignerId[]): Promise<bigint[]>;
  abstract byIds(txIds: readonly string[]): Promise<ManagedTx[]>;
  /**
   * Signers that have anything to do: unfinished txs, or a hole that is being filled. Costs one index probe per such signer, and more
   * while an old snapshot keeps the entries of finished txs.
   */
  abstract signersWithWork(chainId: ChainId): Promise<SignerWork[]>;
  /**
   * Signers that may have something to do, by their leases: at any time as cheap. Not those that were never worked on, nor those of a dead
   * node without pending txs.
   */
  abstract signersInWork(chainId: ChainId): Promise<SignerWork[]>;

  /**
   * After a change of owner nobody knows what was mined meanwhile: makes the receipt checks of the signers, which are of one chain,
   * due; a page of them, in the order of their slots.
   * @param after the last slot of the page before; null for the first
   * @returns the last slot of this page; null when it was the last page
   */
  abstract markReceiptsDue(fence: Fence, signers: readonly SignerId[], after: SlotRef | null): Promise<SlotRef | null>;
  /**
   * Writes state, timers and events in one go.
   * @throws Conflict `stale_copy` when one of them was changed since it was read; then none is written
   */
  abstract save(fence: Fence, txs: readonly ManagedTx[]): Promise<void>;
  /** Writes the events of txs of which nothing else has changed. */
  abstract note(fence: Fence, txs: readonly ManagedTx[]): Promise<void>;
}

export interface SignerWork {
  readonly signer: SignerId;
  /** A tx waits, and it is its time. */
  readonly hasPending: boolean;
  /** `held` by another node; `lapsed` when it ran out on its holder; else `free`, or this node's own. */
  readonly lease: 'held' | 'lapsed' | 'free';
}
