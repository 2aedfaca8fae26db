import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NodeConfig, WebhooksConfig } from '../../../config/index.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { DeliveryQueue } from '../domain/delivery-queue.js';

const NAME = 'webhook-housekeeping';
const INTERVAL_MS = 30_000;
/** In one database transaction, so that it is short. */
const BATCH = 2_000;
const MOST_BATCHES = 50;

/** When: twice a minute. Gives up what waits for disabled endpoints, and deletes what is not kept any longer. */
@Injectable()
export class WebhookHousekeeping extends Housekeeping {
  constructor(
    private readonly queue: DeliveryQueue,
    private readonly config: WebhooksConfig,
    role: NodeConfig,
    log: Log,
  ) {
    super(NAME, role, log);
  }

  @Interval(NAME, INTERVAL_MS)
  run(): Promise<void> {
    return this.runOnce();
  }

  protected override async clean(): Promise<void> {
    const { keepDelivered, keepDead } = this.config;
    await inBatches(() => this.queue.bury(BATCH));
    await inBatches(() => this.queue.prune(keepDelivered, keepDead, BATCH));
  }
}

async function inBatches(batch: () => Promise<number>): Promise<void> {
  for (let n = 0; n < MOST_BATCHES; n += 1) if ((await batch()) < BATCH) return;
}
