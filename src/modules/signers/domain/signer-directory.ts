import type { CustodiedSigner } from './custody.js';

/** The signers that requests may name. */
export abstract class SignerDirectory {
  /** @throws Error when a key of a key service had another address before */
  abstract refuseMoved(signers: readonly CustodiedSigner[]): Promise<void>;
  /**
   * Called when the node has announced itself, too: from then on of two that disagree one is refused.
   * @param self the node that registers them
   * @param windowMs a heartbeat within it is recent
   * @throws Error as {@link refuseMoved}; and when a node whose heartbeat is recent has the key of a signer that is external here, or the other way round
   */
  abstract register(signers: readonly CustodiedSigner[], self: string, windowMs: number): Promise<void>;
}
