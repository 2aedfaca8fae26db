import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';

/** Who asks for a pause or for its end, and why. */
export interface PauseRequest {
  readonly by: string;
  readonly reason: string | null;
}

/** A pause that is in force. */
export interface Pause extends PauseRequest {
  readonly since: Date;
}

/** What a signer had before and has after a change; null for no pause. */
export interface PauseChange {
  readonly pause: Pause | null;
  /** False when it was as asked already. */
  readonly changed: boolean;
}

/** Pauses of signers by operators. A paused signer gets no new nonces. No lease is needed: any node may write them. */
export abstract class SignerPauses {
  /** A signer that is paused keeps its pause. Null for an unknown signer. */
  abstract pause(tx: Tx, signer: SignerId, request: PauseRequest): Promise<PauseChange | null>;
  /** Null for an unknown signer. */
  abstract resume(tx: Tx, signer: SignerId): Promise<PauseChange | null>;
  /**
   * Resolves when every write under the lease that began before has ended. A write that begins later reads what is committed now, so after
   * a pause was committed and this resolved, the signer gets no nonce.
   */
  abstract writesEnded(signer: SignerId): Promise<void>;
}
