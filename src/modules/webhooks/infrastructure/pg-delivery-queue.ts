import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlValue } from '../../../platform/database/pg-tx.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import { type ReadDue, Turns } from '../../../platform/scheduling/turns.js';
import type { EventPosition } from '../../events/index.js';
import type { ClaimedDelivery, DeliveryStatus, TryResult } from '../domain/delivery.js';
import { type Backlog, type Claim, DeliveryQueue, type Recorded, type Share } from '../domain/delivery-queue.js';
import { DueFloors, type WaitingEndpoint } from './due-floors.js';
import { BACKLOG, BURY, CLAIM, FORGET_ENDPOINTS, PRUNE, PRUNE_LOCK, RECORD } from './delivery.statements.js';

export interface KeyRow {
  readonly endpoint_id: string;
  readonly xid: string;
  readonly seq: string;
  readonly part: number;
}

interface ClaimedRow extends KeyRow {
  readonly url: string;
  readonly host: string;
  readonly body: string;
  readonly tries: number;
  readonly secrets: readonly string[];
  readonly is_failing: boolean;
}

interface BacklogRow {
  readonly endpoint_id: string;
  readonly waiting: number;
  readonly age: number;
  readonly is_failing: boolean;
}

interface Asked extends WaitingEndpoint, Share {}

/** In one claim. */
const PAGE = 500;

@Injectable()
export class PgDeliveryQueue extends DeliveryQueue {
  private readonly floors: DueFloors;
  private readonly turns = new Turns<ClaimedDelivery>(PAGE, ({ endpointId }) => endpointId);
  private readonly portion = new Portion(PAGE);

  constructor(
    private readonly database: Database,
    clock: Clock,
    pauses: Pauses,
  ) {
    super();
    this.floors = new DueFloors(database, clock, pauses);
  }

  async claim(claim: Claim): Promise<readonly ClaimedDelivery[]> {
    const waiting = await this.floors.ofWaiting();
    const ids = waiting.map(({ id }) => id);
    const claimed = await this.turns.take(claim.nodeId, ids, this.claimInTurn(claim, waiting));
    if (claimed.length === 0) this.floors.expire();
    return claimed;
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
      results.map(({ url }) => url),
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

  /** Claims of each endpoint what is missing to `perEndpoint`, and returns all that it has got of this claim. */
  private claimInTurn(
    { nodeId, forMs, most, shareOf }: Claim,
    waiting: readonly WaitingEndpoint[],
  ): ReadDue<ClaimedDelivery> {
    const known = new Map(shared(waiting, shareOf).map((one) => [one.id, one]));
    const got = new Map<string, ClaimedDelivery[]>();
    let room = Math.min(most, PAGE);
    const claim = (asked: readonly Asked[]): Promise<ClaimedDelivery[]> =>
      this.portion.take(async (size) => {
        const some = asked.slice(0, size);
        const { rows } = await this.database.query<ClaimedRow>(CLAIM, [
          nodeId,
          forMs,
          ...valuesOf(some),
          Math.min(room, size),
        ]);
        return rows.map(toClaimed);
      });
    return async (endpoints, perEndpoint) => {
      const asked = endpoints
        .flatMap((id) => known.get(id) ?? [])
        .map((one) => ({ ...one, ...missing(one, perEndpoint, got.get(one.id)?.length ?? 0) }))
        .filter((one) => one.most > 0);
      // What was claimed before a failure is posted all the same.
      const more = asked.length === 0 || room === 0 ? [] : await claim(asked).catch(unless(got.size > 0));
      room -= more.length;
      for (const one of more) got.set(one.endpointId, [...(got.get(one.endpointId) ?? []), one]);
      return endpoints.flatMap((id) => got.get(id) ?? []);
    };
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
    host: row.host,
    body: row.body,
    secrets: row.secrets,
    tries: row.tries,
    isFailing: row.is_failing,
  };
}

/** The endpoints that may have some, with their shares. */
function shared(waiting: readonly WaitingEndpoint[], shareOf: Claim['shareOf']): Asked[] {
  const asking = waiting.filter((one) => shareOf(one, 1).most > 0);
  const sharers = new Map<string, number>();
  for (const { host } of asking) sharers.set(host, (sharers.get(host) ?? 0) + 1);
  return asking.map((one) => ({ ...one, ...shareOf(one, sharers.get(one.host) ?? 1) }));
}

function missing({ most, mostIfFailing }: Share, perEndpoint: number, had: number): Share {
  const upTo = (share: number): number => Math.max(0, Math.min(share, perEndpoint) - had);
  return { most: upTo(most), mostIfFailing: upTo(mostIfFailing) };
}

function valuesOf(asked: readonly Asked[]): SqlValue[] {
  return [
    asked.map(({ id }) => id),
    asked.map(({ floor }) => floor),
    asked.map(({ most }) => most),
    asked.map(({ mostIfFailing }) => mostIfFailing),
  ];
}

function unless(isEnough: boolean): (error: unknown) => ClaimedDelivery[] {
  return (error) => {
    if (isEnough) return [];
    throw error;
  };
}
