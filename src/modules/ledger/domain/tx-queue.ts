import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from '../../signers/index.js';
import type { ManagedTx } from './managed-tx.js';
import type { RequestedTx } from './managed-tx.repository.js';

/** The order of txs that were not tried: by priority, highest first, then by id, which begins with its time. */
export interface QueuePosition {
  readonly priority: number;
  readonly txId: string;
}

/** Hexadecimal digits of the milliseconds at the start of a UUIDv7. */
const TIME_DIGITS = 12;

/** When a tx was stored, by the clock of its node, in milliseconds since 1970. */
export function createdMs(txId: string): number {
  return Number.parseInt(txId.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
}

/** The position of a tx that has the same priority and is this many milliseconds older. */
export function olderBy(ms: number, { priority, txId }: QueuePosition): QueuePosition {
  const digits = Math.max(0, createdMs(txId) - ms)
    .toString(16)
    .padStart(TIME_DIGITS, '0');
  return { priority, txId: `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000` };
}

export interface PendingTx extends RequestedTx {
  /** By the database clock. */
  readonly expired: boolean;
  /** Its account is stopped: it gets no nonce, and is to be set aside. */
  readonly isStopped: boolean;
  /** A permit that it has ends soon, by the database clock, and is to be made anew; or the owner of one is paused. */
  readonly lacksPermit: boolean;
  /** It was postponed before, and its timer has run out. */
  readonly wasTried: boolean;
}

/** How many waiting txs of a signer to read. */
export interface SignerRoom {
  readonly signer: SignerId;
  readonly room: number;
  /** Where the read of untried txs begins. Txs of a higher priority are read from their start. Absent or null: at the first tx. */
  readonly after?: QueuePosition | null;
}

/** All that waits of a signer, or of an account that is not the operators'. */
export type WaitingQueue = { readonly upTo: number } & (
  | { readonly signer: SignerId; readonly account: null }
  | { readonly signer: null; readonly account: string }
);

export interface SignerWork {
  readonly signer: SignerId;
  /** A tx is waiting, its time has come, and the signer is not paused. */
  readonly hasPending: boolean;
  /** `held` by another node; `lapsed` when it expired without a release; else `free`, or held by this node. */
  readonly lease: 'held' | 'lapsed' | 'free';
}

/** Waiting txs that may get a nonce in this transaction. */
export interface LockedForNonce {
  readonly ids: ReadonlySet<string>;
  /** Of the policies that hold now; null when nothing was locked. */
  readonly policyMark: string | null;
}

/** The queue of each signer: the txs that wait for a nonce, what they wait behind, and which signers have work. */
export abstract class TxQueue {
  /**
   * The next waiting txs of each signer, by priority. Within one priority, two groups take turns: untried txs, the oldest first, and txs
   * that were tried and whose timer has run out, the longest due first. Left out are txs that are not due, and all of paused signers. Those of
   * stopped accounts are in it, until they are set aside.
   */
  abstract nextPending(wanted: readonly SignerRoom[]): Promise<PendingTx[]>;
  /** How many txs wait of each, in the given order. Counting stops at `upTo`. */
  abstract countWaiting(queues: readonly WaitingQueue[]): Promise<number[]>;
  /** How many txs of each signer have a nonce and are not mined, in the given order. Counting stops at `upTo`. */
  abstract countInFlight(signers: readonly SignerId[], upTo: number): Promise<number[]>;
  /**
   * By signer key, the id of the oldest tx that is in flight or that waits for another reason than its own estimate. A signer without such
   * a tx has no entry.
   * @param besides ids of waiting txs whose estimates revert now
   */
  abstract oldestUnmined(
    signers: readonly SignerId[],
    besides: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /** Those that may get a nonce: locked like by {@link WriteChanges.ofPending}, and without the txs of paused signers and stopped accounts. */
  abstract lockForNonce(fence: Fence, txs: readonly ManagedTx[]): Promise<LockedForNonce>;
  /** Of the txs that are due, those of stopped accounts, locked: the given ones, and a thousand more at the front of the queues of their signers, in equal parts. */
  abstract lockStopped(fence: Fence, txs: readonly ManagedTx[]): Promise<ManagedTx[]>;
  /** Makes all txs of a signer due that wait for its daily amounts: its policy changed. Only timers change, so it needs no lease. */
  abstract makeHeldDue(signer: SignerId): Promise<void>;
  /** Makes all txs of an account due that were set aside because it was stopped, in the order in which they came. Only timers change. */
  abstract makeStoppedDue(account: string): Promise<void>;
  /**
   * Signers that have work: unfinished txs, an authorization to give, or a command that waits. Costs one index probe per such signer, and more
   * while an old snapshot keeps the index entries of finished txs.
   */
  abstract signersWithWork(chainId: ChainId): Promise<SignerWork[]>;
  /**
   * Signers that may have work, by their leases. Always equally cheap. Leaves out signers that were never worked on, and those of a dead
   * node without pending txs.
   */
  abstract signersInWork(chainId: ChainId): Promise<SignerWork[]>;
}
