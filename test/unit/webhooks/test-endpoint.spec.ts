import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { ANYONE } from '../../../src/kernel/caller.js';
import { TestEndpoint } from '../../../src/modules/webhooks/application/test-endpoint.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { until } from '../../support/until.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { anEndpoint, FakeEndpoints, FakeSender, OK } from './webhook-fakes.js';

const signatures = new WebhookSignatures();

const recorded = () => Promise.resolve();

it('sends one signed event, and returns what the receiver says', async () => {
  const [endpoints, sender, secret] = [new FakeEndpoints(), new FakeSender(), signatures.newSecret()];
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret });
  const clock = new FakeClock(new Date());
  const test = new TestEndpoint(endpoints, sender, signatures, new PlainSecrets(), { next: () => '7' }, clock);
  sender.answer = async () => ({ ...OK, status: 503, body: 'later' });
  expect(await test.execute('one', ANYONE, recorded)).toMatchObject({ status: 503, body: 'later' });
  const [{ url, headers, body } = { url: '', headers: {}, body: '' }, ...more] = sender.sent;
  expect(more).toEqual([]);
  expect(url).toBe('https://example.com/hook');
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: 'test-7', type: 'webhook.test', version: 1 });
  await expect(test.execute('two', ANYONE, recorded)).rejects.toMatchObject({ code: 'webhook_not_found' });
});

it('refuses a second test of an endpoint within a second or while the first one runs, and more than 16 endpoints at once', async () => {
  const [endpoints, sender, clock] = [new FakeEndpoints(), new FakeSender(), new FakeClock()];
  const ids = Array.from({ length: 17 }, (_, n) => `endpoint-${n}`);
  for (const id of ids) await endpoints.add({ ...anEndpoint({ id }), secret: signatures.newSecret() });
  const test = new TestEndpoint(endpoints, sender, signatures, new PlainSecrets(), { next: () => '7' }, clock);
  const refused = { code: 'too_many_tests', kind: 'too_many', retryAfterSeconds: 1 };
  const answers: (() => void)[] = [];
  sender.answer = () => new Promise((resolve) => answers.push(() => resolve(OK)));
  const running = ids.slice(0, 16).map((id) => test.execute(id, ANYONE, recorded));
  await until('all are sent', async () => answers.length === 16);
  await expect(test.execute('endpoint-16', ANYONE, recorded)).rejects.toMatchObject(refused);
  clock.advance(1_000);
  await expect(test.execute('endpoint-0', ANYONE, recorded)).rejects.toMatchObject(refused);
  for (const answer of answers) answer();
  await Promise.all(running);
  sender.answer = async () => OK;
  expect(await test.execute('endpoint-0', ANYONE, recorded)).toMatchObject({ status: 200 });
  await expect(test.execute('endpoint-0', ANYONE, recorded)).rejects.toMatchObject(refused);
  expect(await test.execute('endpoint-1', ANYONE, recorded)).toMatchObject({ status: 200 });
  clock.advance(1_000);
  expect(await test.execute('endpoint-0', ANYONE, recorded)).toMatchObject({ status: 200 });
});

it('sends nothing when the audit log cannot be written', async () => {
  const [endpoints, sender, clock] = [new FakeEndpoints(), new FakeSender(), new FakeClock()];
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret: signatures.newSecret() });
  const broken = () => Promise.reject(new Error('no entry'));
  const test = new TestEndpoint(endpoints, sender, signatures, new PlainSecrets(), { next: () => '7' }, clock);
  await expect(test.execute('one', ANYONE, broken)).rejects.toThrow('no entry');
  expect(sender.sent).toEqual([]);
});
