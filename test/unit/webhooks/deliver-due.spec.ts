import { beforeEach, expect, it } from '@jest/globals';
import { WebhooksConfig } from '../../../src/config/index.js';
import { DeliverDue } from '../../../src/modules/webhooks/application/deliver-due.js';
import { PostDelivery } from '../../../src/modules/webhooks/application/post-delivery.js';
import { RecordDeliveries } from '../../../src/modules/webhooks/application/record-deliveries.js';
import { StandardWebhookSignatures } from '../../../src/modules/webhooks/infrastructure/sign-webhook.js';
import { Named } from '../../support/fakes/fake-node.js';
import { gate } from '../../support/gate.js';
import { readableLog } from '../platform/log-lines.js';
import { aClaimed, CountedMetrics, FakeQueue } from './delivery-fakes.js';
import { FakeEndpoints, FakeSender, OK, StoppedClock } from './webhook-fakes.js';

let queue: FakeQueue;
let sender: FakeSender;
let clock: StoppedClock;
let deliver: DeliverDue;

beforeEach(() => {
  [queue, sender, clock] = [new FakeQueue(), new FakeSender(), new StoppedClock()];
  const node = new Named('node');
  const results = new RecordDeliveries(queue, new FakeEndpoints(), new CountedMetrics(), node, readableLog().log);
  const post = new PostDelivery(sender, new StandardWebhookSignatures(), clock);
  const config = Object.assign(new WebhooksConfig(), { concurrency: 8, timeout: 1_000 });
  deliver = new DeliverDue(queue, post, results, config, node, clock);
});

it('claims for longer than a post may take, and counts what is in flight as taken places', async () => {
  const answer = gate();
  sender.answer = () => answer.opened.then(() => OK);
  queue.due = [aClaimed(1), aClaimed(2), aClaimed(3, { endpointId: 'two' })];
  expect(await deliver.execute()).toBe(3);
  await deliver.execute();
  expect(queue.claims[1]).toMatchObject({ nodeId: 'node', places: 8, placesOfFailing: 4, forMs: 16_000 });
  expect([...(queue.claims[1]?.taken ?? [])]).toEqual([
    ['one', 2],
    ['two', 1],
  ]);
  answer.open();
  await deliver.idle();
  await deliver.execute();
  expect([...(queue.claims[2]?.taken ?? [])]).toEqual([]);
  expect(queue.batches.flat().map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered']);
});

it('sends nothing to an endpoint that asked it to wait, for so long', async () => {
  sender.answer = async () => ({ ...OK, status: 429, retryAfterMs: 60_000 });
  queue.due = [aClaimed(1)];
  await deliver.execute();
  await deliver.idle();
  expect(queue.batches.flat()).toMatchObject([{ outcome: 'failed', waitMs: 60_000 }]);
  clock.ms = 59_999;
  await deliver.execute();
  clock.ms = 60_000;
  await deliver.execute();
  expect(queue.claims.map(({ taken }) => taken.get('one'))).toEqual([undefined, 8, undefined]);
});
