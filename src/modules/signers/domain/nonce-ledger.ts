import type { Hash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from './fence.js';

export interface SequenceState {
  readonly signer: SignerId;
  readonly cursor: Nonce;
  /** RELEASED slots below the cursor, lowest first, at most as many as requested. Where no node has the key, also those that outside senders had. */
  readonly released: readonly Nonce[];
  /** The same, of those that outside senders had, and that nothing waits for: they may have sent something, so no payload gets them. */
  readonly outside: readonly Nonce[];
}

export interface SlotHolder {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  /** The managed tx that holds the slot. */
  readonly txId: string;
  /** It is for an outside sender. */
  readonly isOutside?: boolean;
  /** Wei that its tx may take of the daily amounts of its signer. */
  readonly reserve?: { readonly value: bigint; readonly fees: bigint };
}

export interface SlotRef {
  readonly signer: SignerId;
  readonly nonce: Nonce;
}

/** A slot that may get another holder: several txs competed for it. */
export interface RacedSlot extends SlotRef {
  /** Id of the tx that holds it from now on; absent when it stays the same. */
  readonly holder?: string;
}

/** The lowest nonce gap of a signer is another one than was told last, or there is none any more. */
export interface MovedGap {
  readonly signer: SignerId;
  readonly before: Nonce | null;
  readonly gap: Nonce | null;
}

/** Cursors and slots of every signer. All writes are fenced (docs/invariants.md, I2). */
export abstract class NonceLedger {
  /**
   * Sets `cursor = max(cursor, chain)`: alignment raises the cursor and never lowers it. Creates the cursor on first use. Deletes RELEASED
   * slots below the nonce of the chain.
   */
  abstract align(fence: Fence, chainNonces: readonly SlotRef[]): Promise<void>;
  /** The known cursors of the signers, by signer key. Needs no lease. */
  abstract cursors(signers: readonly SignerId[]): Promise<ReadonlyMap<string, Nonce>>;
  /** Returns a state only for signers that were aligned before. */
  abstract read(fence: Fence, signers: readonly SignerId[], maxReleased: number): Promise<SequenceState[]>;
  /** Opens new slots or holds released ones, with what is reserved for them. Moves each cursor from the value that was read to `to`. */
  abstract hold(
    fence: Fence,
    slots: readonly SlotHolder[],
    cursors: readonly { readonly from: SequenceState; readonly to: Nonce }[],
  ): Promise<void>;
  /**
   * Opens or holds slots of transactions that were sent already, and raises each cursor above them. Creates the cursor on first use. Never
   * called with the nonce of a held slot.
   */
  abstract adopt(fence: Fence, slots: readonly SlotHolder[]): Promise<void>;
  /**
   * Creates RELEASED slots for the nonces without a slot, from the next nonce of the chain up to our lowest slot above it. The transaction
   * or the wrong answer that raised the cursor above them is not on the chain any more, and Lockstep never signed anything for them.
   * @param atMost slots per signer, the highest ones; later calls find the rest below them
   * @returns the slots that were created
   */
  abstract freeMissing(fence: Fence, chainNonces: readonly SlotRef[], atMost: number): Promise<SlotRef[]>;
  /** Opens new slots that no tx holds: what they were meant for may leave them unused, and then the next payload gets them; the next hold, where no node has the key. */
  abstract openFree(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** How many nonces {@link freeMissing} would free, for the signers that have any. Needs no lease. */
  abstract missing(chainNonces: readonly SlotRef[]): Promise<(SlotRef & { readonly count: number })[]>;
  /**
   * Nonce gaps: released slots below a held one, which keep every transaction behind them from being mined. Needs no lease.
   * @param alsoUnwanted with those that no payload gets, although nothing has a higher nonce
   * @param fence whose transaction reads; else what is committed
   */
  abstract gaps(signers: readonly SignerId[], alsoUnwanted?: boolean, fence?: Fence): Promise<SlotRef[]>;
  /**
   * Whose lowest nonce gap is not the one that {@link noteGaps} noted last. Of signers whose keys outside senders have; others have none, whatever is
   * noted of them. Nor has one of which a tx with a higher nonce is in a block: the chain used what is below it. Needs no lease.
   */
  abstract movedGaps(signers: readonly SignerId[]): Promise<MovedGap[]>;
  /** Notes their lowest nonce gaps. @returns those that were not noted */
  abstract noteGaps(fence: Fence, signers: readonly SignerId[]): Promise<MovedGap[]>;
  /** Gives fills the slots that no tx holds: nonce gaps, and nonces that a reorg took from a foreign transaction. */
  abstract fill(fence: Fence, slots: readonly SlotHolder[]): Promise<void>;
  /** Gives held slots to other txs, which compete with the present holders for them. */
  abstract handOver(fence: Fence, slots: readonly SlotHolder[]): Promise<void>;
  abstract release(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** Deletes held slots whose nonces are used, and for which Lockstep sent nothing. */
  abstract forget(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** A reorg orphaned the blocks of the transactions that consumed these slots. */
  abstract reopen(fence: Fence, slots: readonly RacedSlot[]): Promise<void>;
  /** Marks slots as used for good. The hash is null where a foreign transaction used the nonce; the slot has no tx then. */
  abstract consume(fence: Fence, slots: readonly (RacedSlot & { readonly txHash: Hash | null })[]): Promise<void>;
}
