import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from '../../signers/index.js';
import type { MadePermit, RequestedPermit } from './permit.js';

/**
 * `wanted`: its tx can use it, and no other one of its owner and contract is unmined. `made`: its tx waits with it. `overdue`: the same for too long, and
 * others wait. `ended`: its tx is final, or does not want it any more. `over`: its tx is in flight, and its deadline has passed ({@link PERMIT_OVER_S}).
 */
export type PermitStage = 'wanted' | 'made' | 'overdue' | 'ended' | 'over';

/** A permit of a tx, and what is to be done with it. */
export interface PermitUse {
  readonly id: string;
  readonly txId: string;
  /** Of the request that wants it. */
  readonly requestHash: Hash;
  /** Its owner. */
  readonly signer: SignerId;
  /** The signer of the tx. */
  readonly sender: SignerId;
  readonly stage: PermitStage;
  /** Null when its tx does not want it any more. */
  readonly permit: RequestedPermit | null;
  readonly contract: RequestedPermit['contract'];
  /** Null until it is made. */
  readonly permitNonce: bigint | null;
  /** Seconds since 1970. Null until it is made. */
  readonly deadline: bigint | null;
  /** Seconds since 1970, by the clock of the database. */
  readonly now: bigint;
  readonly tries: number;
}

/**
 * Permits of txs, and the nonces that they use at their contracts. Who acts for the owner writes them under its fence, and the tx, which waits, like a
 * command does: in its locked row, whose version grows. A method returns false, and nothing is written, when something is not as it was read.
 */
export abstract class PermitStore {
  /** What there is to do for these owners. */
  abstract open(chainId: ChainId, owners: readonly SignerId[]): Promise<PermitUse[]>;
  /** Whether `make` would do it now: nothing is signed that it would refuse. */
  abstract mayMake(use: PermitUse, permitNonce: bigint, policyMark: string): Promise<boolean>;
  /** Gives the tx a permit, the first or another one. Only while nothing else has its nonce, and no policy changed since the mark. */
  abstract make(fence: Fence, use: PermitUse, made: MadePermit, policyMark: string): Promise<boolean>;
  /** Takes the permit back from a tx that has no nonce. It is wanted again after a pause. */
  abstract withdraw(fence: Fence, use: PermitUse, pauseMs: number): Promise<boolean>;
  /** Its tx has ended. @param isUsed whether the contract says that its nonce was used; of no meaning for one that was never made */
  abstract end(fence: Fence, use: PermitUse, isUsed: boolean): Promise<boolean>;
  /** Its tx is in flight with a permit that no contract takes: others may use its nonce, and another one is wanted if the tx waits again. */
  abstract lapse(fence: Fence, use: PermitUse): Promise<boolean>;
  /** What could not be done is looked at again after a pause. */
  abstract postpone(use: PermitUse, pauseMs: number): Promise<void>;
}
