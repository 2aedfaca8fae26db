import { NodeIdentity } from '../../../src/kernel/node-identity.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import type { EcdsaSignature } from '../../../src/kernel/signing.js';
import {
  type CustodiedSigner,
  Custody,
  ExternalSigner,
  type SignerPolicy,
  type SignerRules,
} from '../../../src/modules/signers/domain/custody.js';

export class Named extends NodeIdentity {
  constructor(readonly id: string) {
    super();
  }
}

/** Has the keys of these signers, each with this policy, and signs nothing. */
export class KeysOf extends Custody {
  /** Whose keys outside senders have. */
  external: readonly SignerId[] = [];

  constructor(
    private readonly known: readonly SignerId[],
    private readonly policy?: SignerPolicy,
  ) {
    super();
  }

  signers(): readonly CustodiedSigner[] {
    return this.known.map((signer) => ({ signer, reference: { type: 'fake' } }));
  }

  rules(): readonly SignerRules[] {
    return this.known.map((signer) => ({ signer, ...(this.policy && { policy: this.policy }) }));
  }

  has(signer: SignerId): boolean {
    return this.known.some((each) => sameSigner(each, signer));
  }

  isExternal(signer: SignerId): boolean {
    return this.external.some((each) => sameSigner(each, signer));
  }

  /** Everything else is signed elsewhere. */
  assertSigns(signer: SignerId): void {
    if (this.isExternal(signer)) throw new ExternalSigner(signer);
  }

  sign(): Promise<EcdsaSignature[]> {
    return Promise.reject(new Error('nothing is signed here'));
  }
}
