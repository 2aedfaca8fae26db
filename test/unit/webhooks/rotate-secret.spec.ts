import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { RotateSecret } from '../../../src/modules/webhooks/application/rotate-secret.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { anEndpoint, AT, FakeEndpoints } from './webhook-fakes.js';

it('makes a new secret, and keeps the old one for the time that is asked', async () => {
  const endpoints = new FakeEndpoints();
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret: 'old' });
  const rotate = new RotateSecret(endpoints, new WebhookSignatures(), new PlainSecrets());
  const { endpoint, secret } = await rotate.execute('one', 5_000, ANYONE);
  expect(await endpoints.secretsOf('one')).toEqual([secret, 'old']);
  expect(endpoint.previousSecretUntil).toEqual(new Date(AT.getTime() + 5_000));
  await expect(rotate.execute('two', 0, ANYONE)).rejects.toMatchObject({ code: 'webhook_not_found' });
});
