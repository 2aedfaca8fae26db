import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ANYONE, limitedTo } from '../../../src/kernel/caller.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { KeyRing } from '../../../src/modules/access/application/key-ring.js';
import { newSecret, parseKeyText, prefixOf } from '../../../src/modules/access/application/key-text.js';
import type { LiveKey } from '../../../src/modules/access/domain/api-keys.js';
import { UuidV7 } from '../../../src/platform/identity/uuid-v7.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { MemoryApiKeys } from './memory-api-keys.js';

const ACCOUNT = new UuidV7().next();
const LIMITED = limitedTo(null, [7]);
let keys: MemoryApiKeys;
let clock: FakeClock;
let ring: KeyRing;
let text: string;
let id: string;

beforeEach(async () => {
  [keys, clock] = [new MemoryApiKeys(), new FakeClock()];
  ring = new KeyRing(keys, clock);
  const made = await new CreateKey(keys, new UuidV7()).execute(
    { name: 'a', account: ACCOUNT, scopes: ['tx:read'], only: LIMITED, expiresAt: null },
    ANYONE,
  );
  [text, id] = [made.text, made.key.id];
});

describe('a node', () => {
  it('refuses nobody for keys that it has not read', () => {
    expect(() => ring.sessionOf(text)).toThrow(expect.objectContaining({ code: 'starting', retryable: true }));
  });

  it('knows who has a key, and what it may do', async () => {
    await ring.refresh();
    expect(ring.sessionOf(text)?.caller).toEqual({
      name: `key:${id}`,
      account: ACCOUNT,
      scopes: ['tx:read'],
      only: LIMITED,
      endsAt: null,
    });
  });

  it('knows that a key which was rotated ends with its overlap: what it makes may not outlive it', async () => {
    const [stored] = await keys.live();
    if (!stored) throw new Error('no key');
    const [before, revokedAt, after] = ['2029', '2030', '2031'].map((year) => new Date(`${year}-01-01T00:00:00Z`));
    for (const [expiresAt = null, ends] of [
      [null, revokedAt] as const,
      [after, revokedAt] as const,
      [before, before] as const,
    ]) {
      const key = { ...stored.key, expiresAt, revokedAt: revokedAt ?? null };
      jest.spyOn(keys, 'live').mockResolvedValueOnce([{ ...stored, key }]);
      await ring.refresh();
      expect(ring.sessionOf(text)?.caller.endsAt).toEqual(ends);
    }
  });

  it('takes no other secret, no other id, and nothing that is no key', async () => {
    await ring.refresh();
    const secret = parseKeyText(text)?.secret ?? '';
    const wrong = [
      `${prefixOf(id)}_${newSecret()}`,
      `${prefixOf(new UuidV7().next())}_${secret}`,
      prefixOf(id),
      secret,
      '',
    ];
    expect(wrong.map((one) => ring.sessionOf(one))).toEqual(wrong.map(() => null));
  });

  it('reads nothing for a thousand wrong keys', async () => {
    await ring.refresh();
    for (let n = 0; n < 1_000; n += 1) ring.sessionOf(`${prefixOf(id)}_${newSecret()}`);
    await ring.recordUses();
    expect([keys.reads, keys.uses]).toEqual([1, []]);
  });

  it('forgets a key that was revoked, and ends its sessions', async () => {
    await ring.refresh();
    const session = ring.sessionOf(text);
    expect(session?.isLive()).toBe(true);
    await keys.revoke(id);
    await ring.refresh();
    expect([session?.isLive(), ring.sessionOf(text)]).toEqual([false, null]);
  });

  it('does not take a revoked key again from an answer that comes late', async () => {
    let arrives = (): void => undefined;
    const before = await keys.live();
    const late = new Promise<LiveKey[]>((resolve) => (arrives = () => resolve(before)));
    jest.spyOn(keys, 'live').mockReturnValueOnce(late);
    const slow = ring.refresh();
    await keys.revoke(id);
    await ring.refresh();
    arrives();
    await slow;
    expect(ring.sessionOf(text)).toBeNull();
  });

  it('ends a key by its own clock, also while the database is away', async () => {
    keys.endsInMs = 1_000;
    await ring.refresh();
    const session = ring.sessionOf(text);
    clock.advance(999);
    expect([session?.isLive(), ring.sessionOf(text)?.isLive()]).toEqual([true, true]);
    clock.advance(1);
    expect([session?.isLive(), ring.sessionOf(text)]).toEqual([false, null]);
  });

  it('writes the last use of each key once', async () => {
    await ring.refresh();
    ring.sessionOf(text);
    clock.advance(500);
    ring.sessionOf(text);
    clock.advance(1_000);
    await ring.recordUses();
    await ring.recordUses();
    expect(keys.uses).toEqual([{ id, agoMs: 1_000 }]);
  });
});
