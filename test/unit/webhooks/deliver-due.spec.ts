import { beforeEach, expect, it } from '@jest/globals';
import { WebhooksConfig } from '../../../src/config/index.js';
import { DeliverDue } from '../../../src/modules/webhooks/application/deliver-due.js';
import { PostDelivery } from '../../../src/modules/webhooks/application/post-delivery.js';
import { RecordDeliveries } from '../../../src/modules/webhooks/application/record-deliveries.js';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';
import { Named } from '../../support/fakes/fake-node.js';
import { gate } from '../../support/gate.js';
import { readableLog } from '../platform/log-lines.js';
import { WebhookMetrics } from '../../../src/modules/webhooks/application/webhook-metrics.js';
import { PlainSecrets } from '../../support/webhook-secrets.js';
import { aClaimed, FakeQueue } from './delivery-fakes.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { FakeEndpoints, FakeSender, OK } from './webhook-fakes.js';

let queue: FakeQueue;
let sender: FakeSender;
let clock: FakeClock;
let deliver: DeliverDue;

beforeEach(() => {
  [queue, sender, clock] = [new FakeQueue(), new FakeSender(), new FakeClock()];
  const node = new Named('node');
  const results = new RecordDeliveries(
    queue,
    new FakeEndpoints(),
    new WebhookMetrics(new FakeMetrics(), queue, clock),
    node,
    readableLog().log,
  );
  const post = new PostDelivery(sender, new WebhookSignatures(), new PlainSecrets(), clock);
  const config = Object.assign(new WebhooksConfig(), { concurrency: 8, timeout: 1_000 });
  deliver = new DeliverDue(queue, post, results, config, node, clock);
});

const freeOf = (id: string) =>
  queue.claims.at(-1)?.shareOf({ id, url: 'https://example.com/hook', host: 'example.com' }, 1).most;

it('claims for longer than a post may take, and counts what is in flight as taken places', async () => {
  const answer = gate();
  sender.answer = () => answer.opened.then(() => OK);
  queue.due = [aClaimed(1), aClaimed(2), aClaimed(3, { endpointId: 'two' })];
  expect(await deliver.execute()).toBe(3);
  await deliver.execute();
  expect(queue.claims[1]).toMatchObject({ nodeId: 'node', most: 2_047, forMs: 16_000 });
  expect([freeOf('one'), freeOf('two')]).toEqual([6, 7]);
  answer.open();
  await deliver.idle();
  await deliver.execute();
  expect([freeOf('one'), freeOf('two')]).toEqual([8, 8]);
  expect(queue.batches.flat().map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered']);
});

it('sends nothing to an endpoint that asked it to wait, for so long', async () => {
  sender.answer = async () => ({ ...OK, status: 429, retryAfterMs: 60_000 });
  queue.due = [aClaimed(1)];
  await deliver.execute();
  await deliver.idle();
  expect(queue.batches.flat()).toMatchObject([{ outcome: 'failed', waitMs: 60_000 }]);
  clock.advance(59_999);
  await deliver.execute();
  clock.advance(1);
  await deliver.execute();
  expect(queue.free).toEqual([8, 0, 8]);
});
