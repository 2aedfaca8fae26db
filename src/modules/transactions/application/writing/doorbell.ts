import type { SignerId } from '../../../../kernel/signer-id.js';

/** Tells the node that acts for a signer that there is work. Only speed depends on it: polling finds all work (docs/invariants.md, I4). */
export abstract class Doorbell {
  abstract ring(signers: readonly SignerId[]): void;
}
