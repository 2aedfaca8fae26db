import type { ChainId, Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Fence } from '../../signers/index.js';
import type { SignedAuthorization } from '../../transactions/index.js';
import type { Grant } from './grant.js';

/**
 * Authorizations of signers for the txs of others. The owner of the authority writes them under its fence, and the tx, which waits, like a
 * command does: in its locked row, whose version grows. A method returns false, and nothing is written, when the tx is not as it was read.
 */
export abstract class AuthorizationStore {
  /** What the authorities have to do now: all that they signed, and of each the oldest that are wanted. */
  abstract open(chainId: ChainId, authorities: readonly SignerId[]): Promise<Grant[]>;
  /** Gives the tx its signature. Only while nothing of the authority is in flight. */
  abstract grant(fence: Fence, grant: Grant, signed: SignedAuthorization): Promise<boolean>;
  /** Takes the signature back from a tx that has no nonce. It is wanted again after a pause. */
  abstract withdraw(fence: Fence, grant: Grant & { readonly nonce: Nonce }, pauseMs: number): Promise<boolean>;
  /** Forgets an authorization whose tx has ended, or does not want it any more. */
  abstract end(fence: Fence, grant: Grant): Promise<boolean>;
  /** Its tx waits a while before its authorities hold anything back for it again. */
  abstract postpone(grant: Grant, pauseMs: number): Promise<void>;
}
