import type { Fence, SlotRef } from '../../signers/index.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { Spending } from './policy.js';

/** A slot, and what its payload can take of the daily amounts. */
export interface Reserve extends SlotRef, Spending {}

/** A signer with daily amounts, and the highest prices of its payloads: wei per gas, and per blob gas. */
export interface DailySigner {
  readonly signer: SignerId;
  readonly maxFeePerGas: bigint;
  readonly maxFeePerBlobGas: bigint;
}

/** What is spent or reserved. */
export interface Spent extends Spending {
  /** When the oldest part of it is a day old; null when all of it is reserved. */
  readonly nextInMs: number | null;
}

/**
 * What signers with daily amounts have spent within 24 hours, and what is reserved for what they have in flight, by slots: of all that competes for a
 * nonce one is mined. Only the owner of a signer writes, so what it reads under its fence is all there is.
 */
export abstract class SpendLedger {
  /**
   * Writes down what has ended, and reserves what is in flight and has no reserve: sent before there was a policy, or found on the chain.
   * @returns what is spent or reserved, by {@link signerKey}
   */
  abstract spent(fence: Fence, signers: readonly DailySigner[]): Promise<ReadonlyMap<string, Spent>>;

  /** About the same without a fence, and rather less than it is: what is held back by it would have no room. By {@link signerKey}. */
  abstract seen(signers: readonly SignerId[]): Promise<ReadonlyMap<string, Spending>>;

  /** Reserves what is in flight and has no reserve: what became final without one would never count as spent. */
  abstract reserveInFlight(fence: Fence, signers: readonly DailySigner[]): Promise<void>;

  /** What is reserved for these slots, by `slotKey`, as far as there is a reserve. `fence`: to see what its transaction wrote. */
  abstract reserved(fence: Fence | null, slots: readonly SlotRef[]): Promise<ReadonlyMap<string, Spending>>;

  /** Never lowers a reserve: what it was for may be out. */
  abstract reserve(fence: Fence, reserves: readonly Reserve[]): Promise<void>;
}
