import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence, SlotRef } from '../../signers/index.js';
import type { Attempt, AttemptOutcome } from './attempt.js';

/** A hole being filled: a held slot without a managed tx. */
export interface OpenFill {
  readonly slot: SlotRef;
  readonly attempts: readonly Attempt[];
}

/** A slot without a managed tx that was consumed for good, as far as anybody knew. */
export interface ConsumedSlot extends SlotRef {
  /** By a transaction that is not ours; else by a fill. */
  readonly foreign: boolean;
  /** Of its row, by the database clock: with another time, somebody has seen to it since. */
  readonly updatedAt: string;
}

/** Signed bytes, kept until their slot is final: any of them can be the one that mines. */
export abstract class AttemptRepository {
  /**
   * Before anything is sent (I5). Refuses an attempt for a slot that its tx does not hold.
   * @throws InvariantViolation then, and nothing is written
   */
  abstract insert(fence: Fence, attempts: readonly Attempt[]): Promise<void>;
  /** Refused ones go out again: until that is answered nothing proves that they are not out. */
  abstract aboutToSend(fence: Fence, attempts: readonly Attempt[]): Promise<void>;
  abstract recordOutcomes(fence: Fence, outcomes: readonly AttemptOutcome[]): Promise<void>;
  /** The mined one of each slot is MINED, the others LOST; all of them where the hash is null, and none of ours was mined. */
  abstract decide(fence: Fence, winners: readonly (SlotRef & { readonly txHash: Hash | null })[]): Promise<void>;
  /** After a reorg any attempt of the slot may mine again. */
  abstract reopen(fence: Fence, slots: readonly SlotRef[]): Promise<void>;
  /** All attempts of the slots, oldest first. */
  abstract ofSlots(slots: readonly SlotRef[]): Promise<Attempt[]>;
  /** Those of the hashes that are ours. */
  abstract byHashes(chainId: ChainId, hashes: readonly Hash[]): Promise<Attempt[]>;
  /** Slots of any signer that something without a tx consumed, maybe in the blocks from `lowest` on. */
  abstract consumedWithoutTx(chainId: ChainId, lowest: number): Promise<ConsumedSlot[]>;
  /** Of these, the ones that nobody has changed since. */
  abstract stillConsumed(slots: readonly ConsumedSlot[]): Promise<ConsumedSlot[]>;
  abstract openFills(signers: readonly SignerId[]): Promise<OpenFill[]>;
}
