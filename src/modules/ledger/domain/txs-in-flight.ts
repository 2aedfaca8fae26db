import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence, SlotRef } from '../../signers/index.js';
import type { Attempt } from './attempt.js';
import type { ManagedTx } from './managed-tx.js';
import type { RequestedTx } from './managed-tx.repository.js';

/**
 * Transactions that a pool does not hold together for one account. `blob`: geth keeps an account for one of its two pools ("address already
 * reserved"). `alone`: it authorizes its own account, and a pool takes that only while nothing else of the account is in flight.
 */
export type PoolKind = 'plain' | 'blob' | 'alone';

/** A tx with a nonce that is not mined, and the newest attempt of it; null before the first one. */
export interface UnminedTx {
  readonly tx: ManagedTx;
  readonly newest: Pick<Attempt, 'kind' | 'pricedAtBlock' | 'errorClass'> | null;
  /** It is a payload, and its signer is paused, or what an outside sender sent: it gets no higher price. */
  readonly isHeld: boolean;
}

/** Other slots of a signer that are in flight. */
export interface InFlightAround {
  /** How many lower nonces are. */
  readonly below: number;
  /** A higher nonce is, or may be, in a pool. */
  readonly isPassed: boolean;
}

/** A nonce of an outside sender, who has sent nothing with it that was seen. */
export interface WaitingHold {
  readonly tx: ManagedTx;
  /** Its time has passed, and its sender has said nothing since. Never one who sends through pools that nobody sees. */
  readonly isOver: boolean;
  /** It has been over for a minute. */
  readonly isOverdue: boolean;
}

/** A hold that waits for a nonce, and what outside senders have of its signer already: holds with a nonce that is not mined. */
export interface OpenHolds {
  readonly txId: string;
  readonly account: string;
  readonly ofSigner: number;
  /** Of these, those of its account. */
  readonly ofAccount: number;
}

/** Reads txs that have a nonce and are not mined. */
export abstract class TxsInFlight {
  /** Every ALLOCATED tx of the signers, in nonce order. */
  abstract allocated(signers: readonly SignerId[]): Promise<RequestedTx[]>;
  /** The unmined txs of each signer with the lowest nonces, this many of each, by signer and nonce. Txs that rest are left out. */
  abstract lowestUnmined(signers: readonly SignerId[], perSigner: number): Promise<UnminedTx[]>;
  /** Txs without a receipt whose resubmit timer has run out: at most this many of each signer, the longest due first. */
  abstract dueForResubmit(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]>;
  /** Txs in the mempool whose receipt check is due: at most this many of each signer, the longest due first. */
  abstract dueForReceiptCheck(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<ManagedTx[]>;
  /** The txs of each signer that wait for room in a pool (`POOL_LIMIT`), lowest nonces first, as many as there is room for. */
  abstract waitingForPool(
    wanted: readonly { readonly signer: SignerId; readonly room: number }[],
  ): Promise<ManagedTx[]>;
  /** What else of the signer of each slot holds a nonce and is not mined, in the given order. */
  abstract inFlightAround(slots: readonly SlotRef[]): Promise<InFlightAround[]>;
  /** The holds of each signer of which nothing was seen yet, the lowest nonces first: at most this many of each. */
  abstract waitingHolds(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<WaitingHold[]>;
  /** In the database transaction that gives them their nonces. */
  abstract openHolds(fence: Fence, waiting: readonly ManagedTx[]): Promise<OpenHolds[]>;
  /** What each signer has in flight, in the given order; null for nothing. Different kinds are never in flight together. */
  abstract kindsInFlight(signers: readonly SignerId[]): Promise<(PoolKind | null)[]>;
}
