import { Injectable } from '@nestjs/common';
import { messageOf } from '../../../kernel/errors.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { Log } from '../../../platform/logging/log.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import type { TryResult } from '../domain/delivery.js';
import { DeliveryQueue } from '../domain/delivery-queue.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { WebhookMetrics } from './webhook-metrics.js';

const MOST_AT_ONCE = 500;
const GONE = 'the receiver answered 410';

/** A result, and whether its endpoint counted as failing when the delivery was claimed. */
export interface Outcome extends TryResult {
  readonly wasFailing: boolean;
  /** How long the post took, in milliseconds. */
  readonly durationMs: number;
}

/** Stores results in batches: those that come while a batch is written are the next one. */
@Injectable()
export class RecordDeliveries {
  private readonly portion = new Portion(MOST_AT_ONCE);
  private waiting: Outcome[] = [];
  private writing: Promise<void> | null = null;
  private recorded: () => void = () => undefined;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly endpoints: WebhookEndpoints,
    private readonly metrics: WebhookMetrics,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /** After each batch: deliveries behind those that ended may be due now. */
  whenRecorded(recorded: () => void): void {
    this.recorded = recorded;
  }

  /** Never throws. What cannot be stored is sent again when its claim has ended. */
  execute(outcome: Outcome): void {
    this.metrics.posted(outcome.durationMs / 1_000);
    this.waiting.push(outcome);
    this.writing ??= this.writeAll();
  }

  /** Resolves when all that was given so far is stored. */
  async idle(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    // Results of the same moment go together.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) await this.write(this.waiting.splice(0, this.portion.size));
    this.writing = null;
  }

  private async write(batch: readonly Outcome[]): Promise<void> {
    try {
      const recorded = await this.portion.take(() => this.queue.record(this.node.id, batch));
      for (const { endpointId, status } of recorded) this.metrics.recorded(endpointId, status);
      await this.noteHealth(batch);
    } catch (error) {
      this.log.warn('failed to record webhook deliveries', { deliveries: batch.length, error: messageOf(error) });
    }
    this.recorded();
  }

  /** Writes only what changes. Of an endpoint with successes and failures the success counts: it answers. */
  private async noteHealth(batch: readonly Outcome[]): Promise<void> {
    for (const [endpointId, isFailing] of failing(batch)) {
      const changes = batch.some((one) => one.endpointId === endpointId && one.wasFailing !== isFailing);
      if (changes) await this.endpoints.setFailing(endpointId, isFailing);
    }
    const gone = new Map(
      batch.filter(({ outcome }) => outcome === 'gone').map((one) => [one.endpointId + one.url, one]),
    );
    for (const { endpointId, url } of gone.values()) await this.endpoints.disable(endpointId, GONE, url);
  }
}

function failing(batch: readonly Outcome[]): Map<string, boolean> {
  const all = new Map<string, boolean>();
  for (const { endpointId, outcome } of batch) {
    all.set(endpointId, (all.get(endpointId) ?? true) && outcome !== 'delivered');
  }
  return all;
}
