import type { SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from '../../signers/index.js';
import type { TxAmounts } from './tx-cost.js';
import type { TxRequest } from './tx-request.js';

/** What a signer has to pay for, without amounts. */
export interface FundsStanding {
  /** Whether the address is a signer. */
  readonly isKnown: boolean;
  readonly inFlight: number;
  readonly hasPending: boolean;
  /** Some of its txs wait for funds. */
  readonly waitsForFunds: boolean;
  /** Its balance was low when it was measured last. */
  readonly isLow: boolean;
}

/** Waiting txs that are priced alike. */
export interface QueuedCost extends Pick<TxRequest, 'fees' | 'speed'>, TxAmounts {
  readonly count: number;
  /** As requested; else as estimated before, or the least that such a transaction needs. */
  readonly gas: bigint;
}

/** What signers have to pay, and what waits for funds. */
export abstract class FundsRepository {
  /** In the given order. */
  abstract standing(signers: readonly SignerId[]): Promise<FundsStanding[]>;
  /** The costs of the first waiting txs of each signer, in the given order. @param most txs that are read per signer */
  abstract queued(signers: readonly SignerId[], most: number): Promise<QueuedCost[][]>;
  /**
   * Wei that the txs in flight of each signer may take from its balance, in the given order: their values, and all their gas at the highest
   * price.
   */
  abstract committedWei(signers: readonly SignerId[]): Promise<bigint[]>;
  /** @returns the signers that were not marked like this before */
  abstract markLow(fence: Fence, signers: readonly SignerId[], isLow: boolean): Promise<SignerId[]>;
}
