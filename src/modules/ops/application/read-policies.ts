import { Injectable } from '@nestjs/common';
import type { Sized } from '../../../kernel/page-bytes.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { SignerPolicies, type SignerPolicy, StoredPolicies, type StoredPolicy } from '../../policies/index.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';

/** Policies as they are now, also when another node changed them a moment ago. */
@Injectable()
export class ReadPolicies {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly stored: StoredPolicies,
  ) {}

  /** By signer key. */
  async list(after: SignerId | null, limit: number): Promise<SignerPolicy[]> {
    await this.policies.refresh();
    return this.policies.present
      .all()
      .map((policy) => ({ key: signerKey(policy.signer), policy }))
      .filter(({ key }) => after === null || key > signerKey(after))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit)
      .map(({ policy }) => policy);
  }

  /** @throws NotFound `unknown_signer` */
  async find(signer: SignerId): Promise<SignerPolicy> {
    await this.assertKnown(signer);
    await this.policies.refresh();
    return this.policies.present.find(signer);
  }

  /** @throws NotFound `unknown_signer` */
  async versions(signer: SignerId, before: number | null, limit: number): Promise<Sized<StoredPolicy>[]> {
    await this.assertKnown(signer);
    return this.stored.versions(signer, before, limit);
  }

  private async assertKnown(signer: SignerId): Promise<void> {
    if ((await this.stored.versionOf(signer)) === null) throw unknownSigner(signer);
  }
}
