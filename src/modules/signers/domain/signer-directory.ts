import type { CustodiedSigner } from './custody.js';

/** The signers that requests may name. */
export abstract class SignerDirectory {
  /** @throws Error when a key of a key service had another address before */
  abstract register(signers: readonly CustodiedSigner[]): Promise<void>;
}
