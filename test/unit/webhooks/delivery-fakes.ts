import { WebhookMetrics } from '../../../src/modules/webhooks/application/webhook-metrics.js';
import type { ClaimedDelivery, DeliveryStatus, TryResult } from '../../../src/modules/webhooks/domain/delivery.js';
import {
  type Backlog,
  type Claim,
  DeliveryQueue,
  type Recorded,
} from '../../../src/modules/webhooks/domain/delivery-queue.js';

export function aClaimed(seq: number, overrides: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    endpointId: 'one',
    position: { xid: 7n, seq: BigInt(seq), part: 0 },
    url: 'https://example.com/hook',
    body: '{}',
    secrets: [`whsec_${Buffer.alloc(24).toString('base64')}`],
    tries: 0,
    isFailing: false,
    ...overrides,
  };
}

/** Hands out what a test has put in, and remembers what is recorded. */
export class FakeQueue extends DeliveryQueue {
  due: ClaimedDelivery[] = [];
  readonly claims: Claim[] = [];
  readonly batches: (readonly TryResult[])[] = [];
  onRecord: () => Promise<void> = async () => undefined;

  override async claim(claim: Claim): Promise<readonly ClaimedDelivery[]> {
    this.claims.push({ ...claim, taken: new Map(claim.taken) });
    return this.due.splice(0);
  }
  override async record(_nodeId: string, results: readonly TryResult[]): Promise<readonly Recorded[]> {
    this.batches.push(results);
    await this.onRecord();
    return results.map((result) => ({ ...result, status: result.outcome === 'delivered' ? 'delivered' : 'waiting' }));
  }
  override async bury(): Promise<number> {
    return 0;
  }
  override async prune(): Promise<number> {
    return 0;
  }
  override async backlog(): Promise<readonly Backlog[]> {
    return [];
  }
}

export class CountedMetrics extends WebhookMetrics {
  readonly counted: string[] = [];

  override recorded(endpointId: string, status: DeliveryStatus): void {
    this.counted.push(`${endpointId} ${status}`);
  }
  override posted(seconds: number): void {
    this.counted.push(`${seconds} s`);
  }
}
