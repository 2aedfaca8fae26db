import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { LimitsConfig } from '../../../src/config/index.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { CreateEndpoint } from '../../../src/modules/webhooks/application/create-endpoint.js';
import { RotateSecret } from '../../../src/modules/webhooks/application/rotate-secret.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { webhookSecrets } from '../../support/webhook-secrets.js';
import { anEndpoint, FakeEndpoints, HttpsTargets } from './webhook-fakes.js';

const [A, B] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const UNREADABLE = { code: 'webhook_secret_unreadable', kind: 'unavailable', retryable: true };
/** What is thrown. */
function thrownBy(run: () => unknown): unknown {
  try {
    return void run();
  } catch (error) {
    return error;
  }
}

describe('the secret of a webhook', () => {
  it('is stored encrypted, differently each time, and decrypted with its key whatever its place in the list', () => {
    const stored = [1, 2].map(() => webhookSecrets(A).encrypted(SECRET, 'one'));
    expect(new Set(stored).size).toBe(2);
    for (const text of stored) {
      expect(text).toMatch(/^aes256gcm:[0-9a-f]{16}:[A-Za-z0-9+/]+=*$/);
      expect(text).not.toContain(SECRET.slice(6));
      expect(webhookSecrets(A).decrypted(text, 'one')).toBe(SECRET);
      expect(webhookSecrets(B, A).decrypted(text, 'one')).toBe(SECRET);
    }
  });

  it('is not decrypted in the row of another endpoint, with another key, when one character differs, or when it is plain', () => {
    const stored = webhookSecrets(A).encrypted(SECRET, 'one');
    const at = stored.length - 8;
    const changed = `${stored.slice(0, at)}${stored[at] === 'A' ? 'B' : 'A'}${stored.slice(at + 1)}`;
    const cases = [
      () => webhookSecrets(A).decrypted(stored, 'two'),
      () => webhookSecrets(B).decrypted(stored, 'one'),
      () => webhookSecrets().decrypted(stored, 'one'),
      () => webhookSecrets(A).decrypted(changed, 'one'),
      () => webhookSecrets(A).decrypted(`${stored.slice(0, 27)}AAAA`, 'one'),
      () => webhookSecrets(A).decrypted(SECRET, 'one'),
    ];
    for (const run of cases) {
      const error = thrownBy(run);
      expect(error).toMatchObject(UNREADABLE);
      expect(String(error)).not.toContain(SECRET.slice(6));
    }
  });

  it('is not made without a key: nothing is stored', async () => {
    const endpoints = new FakeEndpoints();
    await endpoints.add({ ...anEndpoint({ id: 'one' }), secret: 'before' });
    const missing = { code: 'webhook_key_missing', kind: 'unavailable' };
    const [signatures, none] = [new WebhookSignatures(), webhookSecrets()];
    const create = new CreateEndpoint(
      endpoints,
      new HttpsTargets(),
      signatures,
      none,
      { next: () => 'two' },
      new AccountLimits(new LimitsConfig(), new FakeMetrics()),
    );
    await expect(create.execute(anEndpoint(), ANYONE)).rejects.toMatchObject(missing);
    await expect(new RotateSecret(endpoints, signatures, none).execute('one', 0, ANYONE)).rejects.toMatchObject(
      missing,
    );
    expect(await endpoints.list()).toMatchObject([{ id: 'one', secrets: ['before'] }]);
  });
});
