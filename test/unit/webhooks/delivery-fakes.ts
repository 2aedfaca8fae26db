import type { ClaimedDelivery, TryResult } from '../../../src/modules/webhooks/domain/delivery.js';
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
    host: 'example.com',
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
  /** What endpoint `one` might have had in each claim. */
  readonly free: number[] = [];
  readonly buried: number[] = [];
  readonly pruned: [number, number, number][] = [];
  mostPruned = Number.POSITIVE_INFINITY;
  /** Those that are not deleted. */
  endpoints: string[] = [];
  readonly batches: (readonly TryResult[])[] = [];
  onRecord: () => Promise<void> = async () => undefined;

  override async claim(claim: Claim): Promise<readonly ClaimedDelivery[]> {
    this.claims.push(claim);
    this.free.push(claim.shareOf({ id: 'one', host: 'example.com', url: 'https://example.com/hook' }, 1).most);
    return this.due.splice(0);
  }
  override async record(_nodeId: string, results: readonly TryResult[]): Promise<readonly Recorded[]> {
    this.batches.push(results);
    await this.onRecord();
    return results.map((result) => ({ ...result, status: result.outcome === 'delivered' ? 'delivered' : 'waiting' }));
  }
  override async bury(limit: number): Promise<number> {
    this.buried.push(limit);
    return 0;
  }
  override async prune(keepDeliveredMs: number, keepDeadMs: number, limit: number): Promise<number> {
    this.pruned.push([keepDeliveredMs, keepDeadMs, limit]);
    if (limit > this.mostPruned) throw new Error('canceling statement due to statement timeout');
    return 0;
  }
  override async backlog(): Promise<readonly Backlog[]> {
    return this.endpoints.map((endpointId) => ({ endpointId, waiting: 0, ageSeconds: 0, isFailing: false }));
  }
}
