import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { TestEndpoint } from '../../../src/modules/webhooks/application/test-endpoint.js';
import { StandardWebhookSignatures } from '../../../src/modules/webhooks/infrastructure/sign-webhook.js';
import { anEndpoint, FakeEndpoints, FakeSender, OK, StoppedClock } from './webhook-fakes.js';

const signatures = new StandardWebhookSignatures();

it('sends one signed event, and returns what the receiver says', async () => {
  const [endpoints, sender, secret] = [new FakeEndpoints(), new FakeSender(), signatures.newSecret()];
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret });
  const clock = new StoppedClock();
  clock.ms = Date.now() - clock.now().getTime();
  const test = new TestEndpoint(endpoints, sender, signatures, { next: () => '7' }, clock);
  sender.answer = async () => ({ ...OK, status: 503, body: 'later' });
  expect(await test.execute('one')).toMatchObject({ status: 503, body: 'later' });
  const [{ url, headers, body } = { url: '', headers: {}, body: '' }, ...more] = sender.sent;
  expect(more).toEqual([]);
  expect(url).toBe('https://example.com/hook');
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: 'test-7', type: 'webhook.test', version: 1 });
  await expect(test.execute('two')).rejects.toMatchObject({ code: 'webhook_not_found' });
});
