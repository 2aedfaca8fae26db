import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Database } from '../../../platform/database/database.js';
import type { EventPosition } from '../../events/index.js';
import type { ClaimedDelivery, DeliveryStatus, TryResult } from '../domain/delivery.js';
import { type Backlog, type Claim, DeliveryQueue, type Recorded } from '../domain/delivery-queue.js';
import { DueFloors } from './due-floors.js';
import { BACKLOG, BURY, CLAIM, FORGET_ENDPOINTS, PRUNE, PRUNE_LOCK, RECORD } from './delivery.statements.js';

export interface KeyRow {
  readonly endpoint_id: string;
  readonly xid: string;
  readonly seq: string;
  readonly part: number;
}

interface ClaimedRow extends KeyRow {
  readonly url: string;
  readonly body: string;
  readonly tries: number;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly is_failing: boolean;
}

interface BacklogRow {
  readonly endpoint_id: string;
  readonly waiting: number;
  readonly age: number;
  readonly is_failing: boolean;
}

const NOTHING = { rows: [] };

@Injectable()
export class PgDeliveryQueue extends DeliveryQueue {
  private readonly floors: DueFloors;

  constructor(
    private readonly database: Database,
    clock: Clock,
  ) {
    super();
    this.floors = new DueFloors(database, clock);
  }

  async claim({ nodeId, forMs, places, placesOfFailing, taken }: Claim): Promise<readonly ClaimedDelivery[]> {
    const floors = await this.floors.ofWaiting();
    const endpoints = [...floors.keys()];
    const busy = endpoints.map((endpoint) => taken.get(endpoint) ?? 0);
    const values = [nodeId, forMs, places, placesOfFailing, endpoints, busy, [...floors.values()]];
    const { rows } = endpoints.length === 0 ? NOTHING : await this.database.query<ClaimedRow>(CLAIM, values);
    if (rows.length === 0) this.floors.expire();
    return rows.map(toClaimed);
  }

  async record(nodeId: string, results: readonly TryResult[]): Promise<readonly Recorded[]> {
    const { rows } = await this.database.query<KeyRow & { status: DeliveryStatus }>(RECORD, [
      nodeId,
      results.map(({ endpointId }) => endpointId),
      results.map(({ position }) => position.xid.toString()),
      results.map(({ position }) => position.seq),
      results.map(({ position }) => position.part),
      results.map(({ outcome }) => outcome),
      results.map(({ waitMs }) => waitMs),
      results.map(({ answerStatus }) => answerStatus),
      results.map(({ answerBody }) => answerBody),
      results.map(({ error }) => error),
    ]);
    return rows.map((row) => ({ endpointId: row.endpoint_id, position: toPosition(row), status: row.status }));
  }

  async bury(limit: number): Promise<number> {
    return (await this.database.query(BURY, [limit])).rowCount ?? 0;
  }

  prune(keepDeliveredMs: number, keepDeadMs: number, limit: number): Promise<number> {
    return this.database.transaction(async (tx) => {
      const [lock] = (await tx.query<{ taken: boolean }>(PRUNE_LOCK, [])).rows;
      if (lock?.taken !== true) return 0;
      await tx.query(FORGET_ENDPOINTS, []);
      return (await tx.query(PRUNE, [keepDeliveredMs, keepDeadMs, limit])).rowCount ?? 0;
    });
  }

  async backlog(): Promise<readonly Backlog[]> {
    const { rows } = await this.database.query<BacklogRow>(BACKLOG, []);
    return rows.map((row) => ({
      endpointId: row.endpoint_id,
      waiting: row.waiting,
      ageSeconds: row.age,
      isFailing: row.is_failing,
    }));
  }
}

export function toPosition({ xid, seq, part }: Omit<KeyRow, 'endpoint_id'>): EventPosition {
  return { xid: BigInt(xid), seq: BigInt(seq), part };
}

function toClaimed(row: ClaimedRow): ClaimedDelivery {
  return {
    endpointId: row.endpoint_id,
    position: toPosition(row),
    url: row.url,
    body: row.body,
    secrets: [row.secret, ...(row.previous_secret === null ? [] : [row.previous_secret])],
    tries: row.tries,
    isFailing: row.is_failing,
  };
}
