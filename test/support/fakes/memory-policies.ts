import type { Sized } from '../../../src/kernel/page-bytes.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import {
  type PolicyChange,
  type PolicyRules,
  StoredPolicies,
  type StoredPolicy,
  toPolicy,
} from '../../../src/modules/policies/index.js';
import type { PolicyChanged, PolicyNews } from '../../../src/modules/policies/domain/stored-policies.js';

/** What was set by the API, without a database. */
export class MemoryPolicies extends StoredPolicies {
  private readonly all: StoredPolicy[] = [];
  /** How often it was asked for news. */
  reads = 0;

  get mark(): string {
    return String(this.all.length);
  }

  async set(signer: SignerId, rules: PolicyRules | null): Promise<void> {
    const version = (await this.versionOf(signer)) ?? 0;
    await this.change({ signer, policy: rules && toPolicy(rules), version, by: { name: 'test', account: '' } });
  }

  async news(mark: string, _tx: Tx | null): Promise<PolicyNews | null> {
    this.reads += 1;
    const newest = [...new Map(this.all.map((stored) => [signerKey(stored.signer), stored])).values()];
    return mark === this.mark ? null : { mark: this.mark, isAll: true, newest };
  }

  async change({ signer, policy, version, by }: PolicyChange): Promise<PolicyChanged> {
    const stored = { signer, policy, version: version + 1, changedBy: by.name, changedAt: new Date(0) };
    this.all.push(stored);
    return { kind: 'changed', stored };
  }

  async versionOf(signer: SignerId): Promise<number | null> {
    return this.ofSigner(signer)[0]?.version ?? 0;
  }

  async versions(signer: SignerId): Promise<Sized<StoredPolicy>[]> {
    return this.ofSigner(signer).map((stored) => ({ ...stored, bytes: 0 }));
  }

  private ofSigner(signer: SignerId): StoredPolicy[] {
    return this.all.filter((one) => signerKey(one.signer) === signerKey(signer)).toReversed();
  }
}
