import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NodeConfig } from '../../../config/index.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import { EncryptAgain } from '../application/encrypt-again.js';
import { DeliveryQueue } from '../domain/delivery-queue.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';

const NAME = 'webhook-housekeeping';
const INTERVAL_MS = 30_000;
/** In one database transaction, so that it is short. */
const BATCH = 2_000;
const MOST_BATCHES = 50;
const MOST_CHANGES = 10;
/** Endpoints. */
const MOST_ENCRYPTED = 500;
const DAY_MS = 86_400_000;
/** A delivery can be read and replayed meanwhile: long enough for what a receiver lost, and for a week of bodies to stay small. */
const KEEP_DELIVERED_MS = 7 * DAY_MS;
/** Longer, because somebody has to notice, and to repair the receiver. */
const KEEP_DEAD_MS = 30 * DAY_MS;

/** When: twice a minute. Gives up what waits for disabled endpoints, and deletes what is not kept any longer. Completes changes that stopped half-way. Encrypts secrets again. */
@Injectable()
export class WebhookHousekeeping extends Housekeeping {
  private readonly buried = new Portion(BATCH);
  private readonly pruned = new Portion(BATCH);

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly endpoints: WebhookEndpoints,
    private readonly encryptAgain: EncryptAgain,
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
    await inBatches(this.buried, (size) => this.queue.bury(size));
    await inBatches(this.pruned, (size) => this.queue.prune(KEEP_DELIVERED_MS, KEEP_DEAD_MS, size));
    await this.endpoints.completeChanges(MOST_CHANGES);
    await this.encryptAgain.execute(MOST_ENCRYPTED);
  }
}

async function inBatches(portion: Portion, batch: (size: number) => Promise<number>): Promise<void> {
  for (let n = 0; n < MOST_BATCHES; n += 1) {
    const isLast = await portion.take(async (size) => (await batch(size)) < size);
    if (isLast) return;
  }
}
