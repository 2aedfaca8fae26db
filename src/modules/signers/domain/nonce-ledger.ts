import type { Hash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from './fence.js';

export interface SequenceState {
  readonly signer: SignerId;
  readonly cursor: Nonce;
  /** Free slots below the cursor, lowest first, at most as many as were asked for. */
  readonly released: readonly Nonce[];
}

export interface SlotHolder {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  /** The managed tx that holds the slot; null for a fill. */
  readonly txId: string | null;
}

export interface SlotRef {
  readonly signer: SignerId;
  readonly nonce: Nonce;
}

/** Cursor and slots of every signer. All writes are fenced. */
export abstract class NonceLedger {
  /**
   * `cursor = max(cursor, chain)`: alignment raises the cursor, never lowers it. Creates it on first use. Free slots that the
   * chain has passed are forgotten.
   */
  abstract align(fence: Fence, chainNonces: readonly SlotRef[]): Promise<void>;
  /** Of the signers, the cursors that are known, by signer key. A read, which needs no lease. */
  abstract cursors(signers: readonly SignerId[]): Promise<ReadonlyMap<string, Nonce>>;
  /** Cursors are known only for signers that were aligned before. */
  abstract read(fence: Fence, signers: readonly SignerId[], maxReleased: number): Promise<SequenceState[]>;
  /** Opens new slots or takes released ones; moves each cursor from what was read to `cursor`. */
  abstract hold(
    fence: Fence,
    slots: readonly SlotHolder[],
    cursors: readonly { readonly from: SequenceState; readonly to: Nonce }[],
  ): Promise<void>;
  /**
   * Opens or takes slots of transactions that are out already, and raises each cursor above them. Creates it on first use. Never with
   * a nonce that something holds.
   */
  abstract adopt(fence: Fence, slots: readonly SlotHolder[]): Promise<void>;
  /**
   * Frees nonces that nobody has a slot for, from the chain's next one up to our lowest slot above it: whatever raised the cursor over
   * them (a transaction of somebody else, a node's mistake) is on the chain no more, and nothing of ours was ever signed for them.
   *
   * @param atMost of each signer, the highest ones, so that the rest is found below them
   * @returns those that were freed
   */
  abstract freeMissing(fence: Fence, chainNonces: readonly SlotRef[], atMost: number): Promise<SlotRef[]>;
  /** Of signers that have any, how many nonces {@link freeMissing} would free. A read, which needs no lease. */
  abstract missing(chainNonces: readonly SlotRef[]): Promise<(SlotRef & { readonly count: number })[]>;
  /** Takes every released slot below a held one for a fill: nothing behind it can be mined before it. */
  abstract takeGaps(fence: Fence, signers: readonly SignerId[]): Promise<SlotRef[]>;
  abstract release(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** A reorg took back what had consumed them. */
  abstract reopen(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** For good; null where a transaction that is not ours has the nonce, and nobody holds the slot any more. */
  abstract consume(fence: Fence, slots: readonly (SlotRef & { readonly txHash: Hash | null })[]): Promise<void>;
}
