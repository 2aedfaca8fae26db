import { expect, it, jest } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { EncryptAgain } from '../../../src/modules/webhooks/application/encrypt-again.js';
import { WebhookHousekeeping } from '../../../src/modules/webhooks/infrastructure/webhook-housekeeping.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { WEBHOOK_KEY, webhookSecrets } from '../../support/webhook-secrets.js';
import { FakeQueue } from './delivery-fakes.js';
import { anEndpoint, FakeEndpoints } from './webhook-fakes.js';

const DAY_MS = 86_400_000;

function housekeepingOf(queue: FakeQueue, endpoints = new FakeEndpoints()): WebhookHousekeeping {
  const log = new RecordingLog();
  const encryptAgain = new EncryptAgain(endpoints, webhookSecrets(WEBHOOK_KEY), log);
  return new WebhookHousekeeping(queue, endpoints, encryptAgain, new NodeConfig(), log);
}

it('WebhookHousekeeping keeps what was delivered for a week, and what is dead for thirty days', async () => {
  const queue = new FakeQueue();
  await housekeepingOf(queue).run();
  expect([queue.buried, queue.pruned]).toEqual([[2_000], [[7 * DAY_MS, 30 * DAY_MS, 2_000]]]);
});

it('WebhookHousekeeping deletes half as many after a time-out', async () => {
  const queue = new FakeQueue();
  queue.mostPruned = 600;
  const housekeeping = housekeepingOf(queue);
  for (let n = 0; n < 3; n += 1) await housekeeping.run();
  expect(queue.pruned.map(([, , limit]) => limit)).toEqual([2_000, 1_000, 500]);
});

it('WebhookHousekeeping completes changes of a URL that failed half-way', async () => {
  const endpoints = new FakeEndpoints();
  const completeChanges = jest.spyOn(endpoints, 'completeChanges');
  await housekeepingOf(new FakeQueue(), endpoints).run();
  expect(completeChanges).toHaveBeenCalledTimes(1);
});

it('WebhookHousekeeping encrypts secrets with the first key, that an older one has encrypted', async () => {
  const endpoints = new FakeEndpoints();
  const old = Buffer.alloc(32, 2);
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret: webhookSecrets(old).encrypted('whsec_1', 'one') });
  const log = new RecordingLog();
  const encryptAgain = new EncryptAgain(endpoints, webhookSecrets(WEBHOOK_KEY, old), log);
  await new WebhookHousekeeping(new FakeQueue(), endpoints, encryptAgain, new NodeConfig(), log).run();
  const [stored = ''] = await endpoints.secretsOf('one');
  expect(webhookSecrets(WEBHOOK_KEY).decrypted(stored, 'one')).toBe('whsec_1');
});
