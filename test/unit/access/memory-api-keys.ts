import { ALL_KEYS, type ApiKey, type KeyManager } from '../../../src/modules/access/domain/api-key.js';
import {
  ApiKeys,
  type FreshKey,
  type KeyUse,
  type LiveKey,
  type NewKey,
} from '../../../src/modules/access/domain/api-keys.js';

/** Keys in memory. The test says which have ended. */
export class MemoryApiKeys extends ApiKeys {
  readonly uses: KeyUse[] = [];
  reads = 0;
  endsInMs = Infinity;
  private readonly stored = new Map<string, { key: ApiKey; hash: string }>();

  async add({ hash, ...grant }: NewKey): Promise<ApiKey> {
    const key = { ...grant, revokedAt: null, lastUsedAt: null, createdAt: new Date(0) };
    this.stored.set(key.id, { key, hash });
    return key;
  }

  async find(id: string, { account }: KeyManager): Promise<ApiKey | null> {
    const key = this.stored.get(id)?.key;
    return key === undefined || (account !== null && account !== key.account) ? null : key;
  }

  async list(): Promise<ApiKey[]> {
    return [...this.stored.values()].map(({ key }) => key);
  }

  async live(): Promise<LiveKey[]> {
    this.reads += 1;
    return [...this.stored.values()].flatMap(({ key, hash }) =>
      key.revokedAt === null ? [{ key, hash, endsInMs: this.endsInMs }] : [],
    );
  }

  async rotate(id: string, { id: freshId, hash, expiresAt }: FreshKey): Promise<ApiKey | null> {
    const old = await this.find(id, ALL_KEYS);
    if (old?.revokedAt !== null) return null;
    return this.add({ ...old, id: freshId, hash, expiresAt: expiresAt ?? old.expiresAt });
  }

  async revoke(id: string): Promise<ApiKey | null> {
    const stored = this.stored.get(id);
    if (stored === undefined) return null;
    const key = { ...stored.key, revokedAt: new Date(0) };
    this.stored.set(id, { ...stored, key });
    return key;
  }

  async recordUses(uses: readonly KeyUse[]): Promise<void> {
    this.uses.push(...uses);
  }
}
