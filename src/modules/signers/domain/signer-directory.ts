import type { CustodiedSigner } from './custody.js';

/** The signers that requests may name. */
export abstract class SignerDirectory {
  abstract register(signers: readonly CustodiedSigner[]): Promise<void>;
}
