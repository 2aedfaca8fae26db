import type { Address, Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence, SlotRef } from '../../signers/index.js';
import type { FinalHeights } from '../../chain/index.js';
import type { Attempt } from './attempt.js';
import type { ManagedTx } from './managed-tx.js';
import type { PoolKind } from './pool-kind.js';
import type { QueuePosition } from './queue-position.js';
import type { TxState } from './tx-state-machine.js';
import type { StoredRequest, TxRequest } from './tx-request.js';

export interface NewTx {
  readonly txId: string;
  readonly request: TxRequest;
  /** Whether a live node has the key of the signer. If not, the request is not stored, and only an existing tx is returned. */
  readonly isServed: boolean;
}

/** The tx that exists under a `(signer, requestId)`. */
export interface AcceptedTx {
  readonly txId: string;
  readonly state: TxState;
  readonly nonce: bigint | null;
  readonly txHash: Hash | null;
  readonly requestHash: Hash;
}

/** The result of one request of an intake batch. `isPaused`: its signer gets no new nonces now. */
export type Intake =
  | { readonly kind: 'created'; readonly txId: string; readonly isPaused: boolean }
  /** The key was used before. The caller compares the hashes. */
  | { readonly kind: 'exists'; readonly tx: AcceptedTx; readonly isPaused: boolean }
  | { readonly kind: 'unknown_signer' }
  /** It wants an authorization of an account that is no signer of the chain. */
  | { readonly kind: 'unknown_authority'; readonly authority: Address }
  | { readonly kind: 'unserved_signer' };

/** A tx with the request of the client: all that signing needs. */
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

/** A tx with a nonce that is not mined, and the newest attempt of it; null before the first one. */
export interface UnminedTx {
  readonly tx: ManagedTx;
  readonly newest: Pick<Attempt, 'kind' | 'pricedAtBlock' | 'errorClass'> | null;
}

/** How many waiting txs of a signer to read. */
export interface SignerRoom {
  readonly signer: SignerId;
  readonly room: number;
  /** Where the read of untried txs begins. Txs of a higher priority are read from their start. Absent or null: at the first tx. */
  readonly after?: QueuePosition | null;
}

/** Managed txs. Reads and intake need no lease. Every write that moves a tx forward needs the fence (docs/invariants.md, I2). */
export abstract class ManagedTxRepository {
  /** Stores all in one statement and one commit. Results are in the given order. */
  abstract insertPending(txs: readonly NewTx[]): Promise<Intake[]>;

  /** How many txs of each signer have a nonce and are not mined, in the given order. Counting stops at `upTo`. */
  abstract countInFlight(signers: readonly SignerId[], upTo: number): Promise<number[]>;
  /** What else of the signer of each slot holds a nonce and is not mined, in the given order. */
  abstract inFlightAround(slots: readonly SlotRef[]): Promise<InFlightAround[]>;
  /** The txs of each signer that wait for room in a pool (`POOL_LIMIT`), lowest nonces first, as many as there is room for. */
  abstract waitingForPool(wanted: readonly Pick<SignerRoom, 'signer' | 'room'>[]): Promise<ManagedTx[]>;
  /** What each signer has in flight, in the given order; null for nothing. Different kinds are never in flight together. */
  abstract kindsInFlight(signers: readonly SignerId[]): Promise<(PoolKind | null)[]>;
  /**
   * The next waiting txs of each signer, by priority. Within one priority, two groups take turns: untried txs, the oldest first, and txs
   * that were tried and whose timer has run out, the longest due first. Left out are txs that are not due, and all of paused signers.
   */
  abstract nextPending(wanted: readonly SignerRoom[]): Promise<PendingTx[]>;
  /**
   * Ids of the txs that are still PENDING, that no client changed since they were read, and that no other transaction is changing. They stay
   * locked until the end of the transaction.
   */
  abstract lockPending(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>>;
  /** Like `lockPending`, without the txs of paused signers: those that may get a nonce. */
  abstract lockForNonce(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>>;
  /** Every ALLOCATED tx of the signers, in nonce order. */
  abstract allocated(signers: readonly SignerId[]): Promise<RequestedTx[]>;
  /** The unmined txs of each signer with the lowest nonces, this many of each, by signer and nonce. Txs that rest are left out. */
  abstract lowestUnmined(signers: readonly SignerId[], perSigner: number): Promise<UnminedTx[]>;
  /** Txs without a receipt whose resubmit timer has run out, oldest first. */
  abstract dueForResubmit(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]>;
  /** Txs in the mempool whose receipt check is due, oldest first. */
  abstract dueForReceiptCheck(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]>;
  /** Whether the chain has MINED txs of any signer. */
  abstract anyMined(chainId: ChainId): Promise<boolean>;
  /** MINED txs of the signers that are deep enough, by the rule of the chain or by their own number; always in the same order. */
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
   * @param lowest number of the lowest of these blocks; reads only what was mined from there on
   */
  abstract finalIn(chainId: ChainId, lowest: number, blockHashes: readonly Hash[]): Promise<ManagedTx[]>;
  /**
   * The newest txs that became final in a block, this many of each signer, by nonce.
   * @param below only signers of these slots, and lower nonces; null for every signer
   */
  abstract newestFinal(chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]>;
  /** The txs with their requests, in any order. */
  abstract requested(txIds: readonly string[]): Promise<RequestedTx[]>;
  /**
   * By signer key, the id of the oldest tx that is in flight or that waits for another reason than its own estimate. A signer without such
   * a tx has no entry.
   * @param besides ids of waiting txs whose estimates revert now
   */
  abstract oldestUnmined(
    signers: readonly SignerId[],
    besides: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Wei that the txs in flight of each signer may take from its balance, in the given order: their values, and all their gas at the highest
   * price.
   */
  abstract committedWei(signers: readonly SignerId[]): Promise<bigint[]>;
  abstract byIds(txIds: readonly string[]): Promise<ManagedTx[]>;
  /** The other txs that compete, or competed, for the slots of these txs, in any state. */
  abstract rivals(txs: readonly ManagedTx[]): Promise<ManagedTx[]>;
  /**
   * Signers that have work: unfinished txs, a held slot without a tx, or a command that waits. Costs one index probe per such signer, and more while an old
   * snapshot keeps the index entries of finished txs.
   */
  abstract signersWithWork(chainId: ChainId): Promise<SignerWork[]>;
  /**
   * Signers that may have work, by their leases. Always equally cheap. Leaves out signers that were never worked on, and those of a dead
   * node without pending txs.
   */
  abstract signersInWork(chainId: ChainId): Promise<SignerWork[]>;

  /**
   * Makes the receipt checks of the signers due, because a new owner does not know what was mined before. All signers are of one chain. One
   * page per call, in the order of slots.
   * @param after the last slot of the previous page; null for the first page
   * @returns the last slot of this page; null after the last page
   */
  abstract markReceiptsDue(fence: Fence, signers: readonly SignerId[], after: SlotRef | null): Promise<SlotRef | null>;
  /** Inserts fills, which are ALLOCATED from the start. */
  abstract insertFills(fence: Fence, fills: readonly RequestedTx[]): Promise<void>;
  /**
   * Writes states and timers. {@link WriteChanges} writes the events in the same transaction.
   * @throws Conflict `stale_copy` when a tx was changed since it was read; then none is written
   */
  abstract save(fence: Fence, txs: readonly ManagedTx[]): Promise<void>;
}

/** Other slots of a signer that are in flight. */
export interface InFlightAround {
  /** How many lower nonces are. */
  readonly below: number;
  /** A higher nonce is, or may be, in a pool. */
  readonly isPassed: boolean;
}

export interface SignerWork {
  readonly signer: SignerId;
  /** A tx is waiting, its time has come, and the signer is not paused. */
  readonly hasPending: boolean;
  /** `held` by another node; `lapsed` when it expired without a release; else `free`, or held by this node. */
  readonly lease: 'held' | 'lapsed' | 'free';
}
