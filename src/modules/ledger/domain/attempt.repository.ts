import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { Fence, SlotRef } from '../../signers/index.js';
import type { Attempt, AttemptOutcome } from './attempt.js';

/** A slot without a managed tx that was consumed for good as far as Lockstep knew: a foreign transaction used its nonce. */
export interface ConsumedSlot extends SlotRef {
  /** When its row was changed, by the database clock. Another time means that the slot was changed since. */
  readonly updatedAt: string;
}

/** Signed bytes, kept until their slot is final, because any of them can be mined. */
export abstract class AttemptRepository {
  /**
   * Stores attempts before they are sent (docs/invariants.md, I5).
   * @throws InvariantViolation when the tx of an attempt does not hold the slot; then nothing is written
   */
  abstract insert(fence: Fence, attempts: readonly Attempt[]): Promise<void>;
  /** Marks refused attempts as SIGNED before they are sent again: until the answer is stored they may be out. */
  abstract aboutToSend(fence: Fence, attempts: readonly Attempt[]): Promise<void>;
  abstract recordOutcomes(fence: Fence, outcomes: readonly AttemptOutcome[]): Promise<void>;
  /** The mined attempt of each slot becomes MINED, the others LOST. With a null hash none of ours was mined, and all become LOST. */
  abstract decide(fence: Fence, winners: readonly (SlotRef & { readonly txHash: Hash | null })[]): Promise<void>;
  /** After a reorg any attempt of the slots may be mined again. */
  abstract reopen(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** All attempts of the slots, oldest first. */
  abstract ofSlots(slots: readonly SlotRef[]): Promise<Attempt[]>;
  /** Our attempts among the hashes. */
  abstract byHashes(chainId: ChainId, hashes: readonly Hash[]): Promise<Attempt[]>;
  /** Slots of any signer that a foreign transaction consumed, perhaps in a block from `lowest` on. */
  abstract consumedWithoutTx(chainId: ChainId, lowest: number): Promise<ConsumedSlot[]>;
  /** The slots that were not changed since they were read. */
  abstract stillConsumed(slots: readonly ConsumedSlot[]): Promise<ConsumedSlot[]>;
}
