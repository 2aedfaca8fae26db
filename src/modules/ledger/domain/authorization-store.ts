import type { Address } from '../../../kernel/hex.js';
import type { ChainId, Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from '../../signers/index.js';
import type { SignedAuthorization } from './authorization.js';

/**
 * `wanted`: not signed. `open`: signed, and its tx is not mined. `overdue`: signed, and its tx cannot go now, or got no nonce for too long. `in_the_way`:
 * its tx is in flight for so long that its time ends, because something of the authority waits.
 * `mined`: its tx is in a block that is not final. `ended`: its tx is final, or does not want it any more.
 */
export type GrantStage = 'wanted' | 'open' | 'overdue' | 'in_the_way' | 'mined' | 'ended';

/** The authorization of one signer, the authority, for the tx of another one. */
export interface Grant {
  readonly id: string;
  readonly txId: string;
  /** The authority. */
  readonly signer: SignerId;
  /** The signer of the tx. */
  readonly sender: SignerId;
  readonly stage: GrantStage;
  /** What the authority is to sign. Null when the tx does not want it any more. */
  readonly target: { readonly chainId: bigint; readonly address: Address } | null;
  /** Null until it is signed. */
  readonly nonce: Nonce | null;
  /** Nothing of the authority is in flight, and nothing else keeps it from signing now. Only of a wanted one. */
  readonly isReady: boolean;
  readonly tries: number;
}

/**
 * Authorizations of signers for the txs of others. The owner of the authority writes them under its fence, and the tx, which waits, like a
 * command does: in its locked row, whose version grows. A method returns false, and nothing is written, when the tx is not as it was read.
 */
export abstract class AuthorizationStore {
  /** What the authorities have to do now: all that they signed, and of each the oldest that are wanted. */
  abstract open(chainId: ChainId, authorities: readonly SignerId[]): Promise<Grant[]>;
  /** Gives the tx its signature. Only while nothing of the authority is in flight, and no policy changed since the mark. */
  abstract grant(fence: Fence, grant: Grant, signed: SignedAuthorization, policyMark: string): Promise<boolean>;
  /** Takes the signature back from a tx that has no nonce. It is wanted again after a pause. */
  abstract withdraw(fence: Fence, grant: Grant, pauseMs: number): Promise<boolean>;
  /** Ends the time of a tx in flight: its owner closes its slot. */
  abstract expire(fence: Fence, grant: Grant): Promise<void>;
  /** Forgets an authorization whose tx has ended, or does not want it any more. */
  abstract end(fence: Fence, grant: Grant): Promise<boolean>;
  /** Its tx waits a while before its authorities hold anything back for it again. */
  abstract postpone(grant: Grant, pauseMs: number): Promise<void>;
}
