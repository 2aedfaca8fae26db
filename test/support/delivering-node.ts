import { afterAll } from '@jest/globals';
import type { GuardedSender } from '../../src/modules/webhooks/infrastructure/guarded-sender.js';
import { DeliverDue } from '../../src/modules/webhooks/application/deliver-due.js';
import { PostDelivery } from '../../src/modules/webhooks/application/post-delivery.js';
import { RecordDeliveries } from '../../src/modules/webhooks/application/record-deliveries.js';
import { WebhookMetrics } from '../../src/modules/webhooks/application/webhook-metrics.js';
import type { WebhookSecrets } from '../../src/modules/webhooks/application/webhook-secrets.js';
import type { WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import type { DeliveryQueue } from '../../src/modules/webhooks/domain/delivery-queue.js';
import { PgDeliveryQueue } from '../../src/modules/webhooks/infrastructure/pg-delivery-queue.js';
import { WebhookSignatures } from '../../src/modules/webhooks/application/webhook-signatures.js';
import { realPause } from '../../src/platform/scheduling/pause.js';
import { SystemClock } from '../../src/platform/system-clock.js';
import { readableLog } from '../unit/platform/log-lines.js';
import { guardedSender, webhooksConfig } from '../unit/webhooks/sender-lab.js';
import { Named } from './fakes/fake-node.js';
import { FakeMetrics } from './fakes/fake-metrics.js';
import { PlainSecrets } from './webhook-secrets.js';
import type { WebhookLab } from './webhook-lab.js';

const senders: GuardedSender[] = [];

afterAll(() => Promise.all(senders.map((sender) => sender.onApplicationShutdown())));

/** The part of a node that delivers, with posts to loopback. */
export class DeliveringNode {
  readonly deliver: DeliverDue;
  readonly queue: DeliveryQueue;

  constructor(
    lab: WebhookLab,
    name: string,
    { timeoutMs = 2_000, concurrency = 32, queue, sender: other, secrets = new PlainSecrets() }: NodeOptions = {},
  ) {
    const options = { allow: ['127.0.0.1/32'], timeoutMs };
    const sender = guardedSender(options);
    senders.push(sender);
    const node = new Named(name);
    const clock = new SystemClock();
    this.queue = queue ?? new PgDeliveryQueue(lab.database, clock, { pause: realPause });
    const metrics = new WebhookMetrics(new FakeMetrics(), this.queue, clock);
    const results = new RecordDeliveries(this.queue, lab.endpoints, metrics, node, readableLog().log);
    this.deliver = new DeliverDue(
      this.queue,
      new PostDelivery(other ?? sender, new WebhookSignatures(), secrets, clock),
      results,
      Object.assign(webhooksConfig(options), { concurrency }),
      node,
      clock,
    );
  }

  /** Until nothing is due. */
  async deliverAll(): Promise<void> {
    while ((await this.deliver.execute()) > 0) await this.deliver.idle();
  }
}

interface NodeOptions {
  readonly timeoutMs?: number;
  readonly concurrency?: number;
  readonly queue?: DeliveryQueue;
  /** In place of those that encrypt nothing. */
  readonly secrets?: WebhookSecrets;
  /** In place of one that posts. */
  readonly sender?: WebhookSender;
}
