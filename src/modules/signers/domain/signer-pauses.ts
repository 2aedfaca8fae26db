import type { Actor } from '../../../kernel/audit-log.js';
import type { Address } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { CallerLimits } from '../../../kernel/caller.js';
import type { Tx } from '../../../kernel/unit-of-work.js';

/** An account whose txs get no nonces, whichever signer they have. */
export interface StoppedAccount {
  readonly id: string;
  readonly name: string;
}

/**
 * Whom a pause is for: one signer, all signers of a chain, an address on all chains, or all signers. Null stands for every one. Or one account:
 * then the other two are null.
 */
export interface PauseScope {
  readonly chainId: ChainId | null;
  readonly address: Address | null;
  readonly account?: StoppedAccount | null;
}

/** Who asks for a pause or for its end, and why. */
export interface PauseRequest {
  readonly by: Actor;
  readonly reason: string | null;
}

/** A pause that is in force. */
export interface Pause extends PauseScope, PauseRequest {
  readonly account: StoppedAccount | null;
  readonly since: Date;
}

/** The place of a pause in the list of all. */
export interface PausePlace {
  readonly chainId: ChainId | null;
  readonly address: Address | null;
  /** Its name; null where the pause is of no account. */
  readonly account: string | null;
}

/**
 * Pauses of signers by operators. A paused signer gets no new nonces, and neither does a tx of a stopped account. Pauses of different scopes count one by one: a signer goes on when the
 * last of its pauses has ended. No lease is needed: any node may write them.
 */
export abstract class SignerPauses {
  /** What is paused keeps its pause. @returns what is in force, and whether this made it */
  abstract pause(
    tx: Tx,
    scope: PauseScope,
    request: PauseRequest,
  ): Promise<{ readonly pause: Pause; readonly changed: boolean }>;
  /** @returns false when there was no pause of this scope */
  abstract resume(tx: Tx, scope: PauseScope): Promise<boolean>;
  /** The signers of a scope. */
  abstract signers(tx: Tx, scope: PauseScope): Promise<SignerId[]>;
  /** The oldest pause that holds for a signer, or else, when its id is given, for an account. */
  abstract of(signer: SignerId, account?: string): Promise<Pause | null>;
  /**
   * All pauses that may hold for a signer within the limits, the widest first.
   * @param after the last one of the previous page
   * @param account the id of the only account whose stops the list may have; null for all
   */
  abstract list(after: PausePlace | null, limit: number, only: CallerLimits, account: string | null): Promise<Pause[]>;
  /**
   * Resolves when every write under the leases of the scope that began before has ended. A write that begins later reads what is committed now,
   * so after a pause was committed and this resolved, its signers get no nonce. The same is true of policies.
   */
  abstract writesEnded(scope: PauseScope): Promise<void>;
}
