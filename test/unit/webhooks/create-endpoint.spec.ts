import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { LimitsConfig } from '../../../src/config/index.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { CreateEndpoint } from '../../../src/modules/webhooks/application/create-endpoint.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { anEndpoint, FakeEndpoints, HttpsTargets } from './webhook-fakes.js';

const endpoints = new FakeEndpoints();
const ids = { next: () => 'new-id' };
const metrics = new FakeMetrics();
const limits = new AccountLimits(new LimitsConfig(), metrics);
const create = new CreateEndpoint(
  endpoints,
  new HttpsTargets(),
  new WebhookSignatures(),
  new PlainSecrets(),
  ids,
  limits,
);

it('stores the canonical URL and a new secret, and tells the secret', async () => {
  const { endpoint, secret } = await create.execute(anEndpoint({ url: 'https://EXAMPLE.com/hook' }), ANYONE);
  expect(endpoint).toMatchObject({ id: 'new-id', url: 'https://example.com/hook' });
  expect(secret).toMatch(/^whsec_/);
  expect(await endpoints.secretsOf('new-id')).toEqual([secret]);
});

it('stores nothing for a URL that is refused', async () => {
  endpoints.rows.clear();
  await expect(create.execute(anEndpoint({ url: 'http://example.com' }), ANYONE)).rejects.toMatchObject({
    code: 'invalid_webhook_url',
  });
  expect(endpoints.rows.size).toBe(0);
});

it('stores nothing for an account that has as many as it may', async () => {
  endpoints.rows.clear();
  limits.update(new Map([[ANYONE.account, { webhookEndpoints: 1 }]]));
  await create.execute(anEndpoint({ id: 'one' }), ANYONE);
  const refused = await create.execute(anEndpoint({ id: 'two' }), ANYONE).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'rate_limited', facts: { limit: 'webhook_endpoints' }, retryAfterSeconds: 5 });
  expect(metrics.counted('limited_total')).toEqual({ webhook_endpoints: 1 });
  expect(endpoints.rows.size).toBe(1);
});
