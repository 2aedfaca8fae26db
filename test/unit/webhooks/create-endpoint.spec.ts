import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { CreateEndpoint } from '../../../src/modules/webhooks/application/create-endpoint.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { anEndpoint, FakeEndpoints, HttpsTargets } from './webhook-fakes.js';

const endpoints = new FakeEndpoints();
const ids = { next: () => 'new-id' };
const create = new CreateEndpoint(endpoints, new HttpsTargets(), new WebhookSignatures(), new PlainSecrets(), ids);

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
