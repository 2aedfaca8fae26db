import type { CustodiedSigner } from './custody.js';

/** The signers that requests may name. */
export abstract class SignerDirectory {
  /** @throws Error when a key of a key service had another address before */
  abstract refuseMoved(signers: readonly CustodiedSigner[]): Promise<void>;
  /** @throws Error as {@link refuseMoved} */
  abstract register(signers: readonly CustodiedSigner[]): Promise<void>;
}
