import type { SignerId } from '../../../kernel/signer-id.js';
import type { Fence, SlotHolder, SlotRef } from '../../signers/index.js';
import type { ManagedTx } from './managed-tx.js';
import type { RequestedTx } from './managed-tx.repository.js';

/** A tx with which nothing could be done, and after how many milliseconds it is due again. */
export interface PostponedTx {
  readonly tx: ManagedTx;
  readonly inMs: number;
}

/** Txs of one timer. */
export interface Postponement {
  readonly timer: 'resubmit' | 'receiptCheck';
  readonly txs: readonly PostponedTx[];
}

/** Writes the rows of txs under the fence (docs/invariants.md, I2), for {@link WriteChanges} only. */
export abstract class TxWriter {
  /**
   * Ids of the txs that are still PENDING, that no client changed since they were read, and that no other transaction is changing. They stay
   * locked until the end of the transaction.
   */
  abstract lockPending(fence: Fence, txs: readonly ManagedTx[]): Promise<ReadonlySet<string>>;
  /** First step of a change of nonces between txs in flight: no nonce has two txs meanwhile. Every tx is saved in the same transaction. */
  abstract vacate(fence: Fence, holders: readonly SlotHolder[]): Promise<void>;
  /**
   * Writes states and timers. {@link WriteChanges} writes the events in the same transaction.
   * @throws Conflict `stale_copy` when a tx was changed since it was read; then none is written
   */
  abstract save(fence: Fence, txs: readonly ManagedTx[]): Promise<void>;
  /** Inserts fills, which are ALLOCATED from the start. */
  abstract insertFills(fence: Fence, fills: readonly RequestedTx[]): Promise<void>;
  /** Moves a timer of txs with which nothing could be done. Leaves out those that were changed since they were read. */
  abstract postpone(fence: Fence, postponed: Postponement): Promise<void>;
  /** Makes due what waits for funds: parked txs, and sent ones that nodes refused. */
  abstract makeFundedDue(fence: Fence, signers: readonly SignerId[]): Promise<void>;
  /**
   * Makes due what waits for the daily amounts of its policy: a batch of each signer, the first of its queue. Leaves out what somebody is changing. Costs
   * no statement for signers without daily amounts.
   */
  abstract makeHeldDue(fence: Fence, signers: readonly SignerId[]): Promise<void>;
  /**
   * Makes the receipt checks of the signers due, because a new owner does not know what was mined before. All signers are of one chain. One
   * page per call, in the order of slots.
   * @param after the last slot of the previous page; null for the first page
   * @returns the last slot of this page; null after the last page
   */
  abstract markReceiptsDue(fence: Fence, signers: readonly SignerId[], after: SlotRef | null): Promise<SlotRef | null>;
}
