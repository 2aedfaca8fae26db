import type { SignerId } from '../../../../kernel/signer-id.js';

/** Tells whoever acts for a signer that there is work. Only speed depends on it: polling finds all work anyway. */
export abstract class Doorbell {
  abstract ring(signers: readonly SignerId[]): void;
}
