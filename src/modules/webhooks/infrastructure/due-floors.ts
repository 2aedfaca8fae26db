import type { Clock } from '../../../kernel/clock.js';
import type { Database } from '../../../platform/database/database.js';
import type { Pauses } from '../../../platform/scheduling/pause.js';
import type { EndpointAt } from '../domain/delivery.js';
import { EnabledEndpoints } from './enabled-endpoints.js';
import { HOST } from './endpoint.statements.js';

/** The floors of some enabled endpoints, in the order of their ids. A join would compare each endpoint with each floor that is known. */
export const FLOORS = {
  name: 'webhook_floors',
  text: `
    SELECT e.endpoint_id, e.url, ${HOST} AS host, least(w.due_at, clock_timestamp() - interval '5 seconds')::text AS floor, w.due_at IS NOT NULL AS has_waiting
      FROM (SELECT o.endpoint_id, o.url FROM webhook_endpoint o
             WHERE o.disabled_at IS NULL AND o.deleted_at IS NULL AND o.endpoint_id > $2 ORDER BY o.endpoint_id LIMIT $3) e
      LEFT JOIN LATERAL (
        SELECT d.due_at FROM webhook_delivery d
         WHERE d.endpoint_id = e.endpoint_id AND d.status = 'waiting' AND d.due_at >= coalesce($1::jsonb ->> e.endpoint_id::text, '-infinity')::timestamptz
         ORDER BY d.due_at LIMIT 1) w ON true
     ORDER BY e.endpoint_id`,
};

const REFRESH_MS = 500;
/** Each post that ends may ask for another read, which takes 10 ms for 1,000 endpoints: this many times as long nothing is read after it. */
const RESTS_PER_READ = 9;
/** A commit that took longer than the five seconds of `FLOORS`, and a clock that was set back, are found with this delay. */
const BEGIN_ANEW_MS = 30_000;

interface FloorRow {
  readonly endpoint_id: string;
  readonly url: string;
  readonly host: string;
  readonly floor: string;
  readonly has_waiting: boolean;
}

export interface WaitingEndpoint extends EndpointAt {
  readonly floor: string;
}

/**
 * From which due time on each endpoint has something waiting. What was delivered leaves entries in the index of what is due, before all others,
 * until the next vacuum: a claim would read all of them each time. A new due time is never before the moment at which it is written, so the
 * lowest one only grows.
 */
export class DueFloors {
  private readonly endpoints = new EnabledEndpoints();
  private floors = new Map<string, FloorRow>();
  private readAtMs = Number.NEGATIVE_INFINITY;
  private begunAtMs = Number.NEGATIVE_INFINITY;
  private restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly pauses: Pauses,
  ) {}

  /** Each endpoint that has something waiting, with a time (`floor`) that is not later than the first due time. */
  async ofWaiting(): Promise<readonly WaitingEndpoint[]> {
    if (this.clock.monotonicMs() - this.readAtMs >= REFRESH_MS) await this.refresh();
    const waiting = [...this.floors.values()].filter(({ has_waiting }) => has_waiting);
    return waiting.map(({ endpoint_id, url, host, floor }) => ({ id: endpoint_id, url, host, floor }));
  }

  /** Nothing was due: the next call reads again. */
  expire(): void {
    this.readAtMs = Number.NEGATIVE_INFINITY;
  }

  private async refresh(): Promise<void> {
    const restMs = this.restsUntilMs - this.clock.monotonicMs();
    if (restMs > 0) await this.pauses.pause(restMs);
    const now = this.clock.monotonicMs();
    const isAnew = now - this.begunAtMs >= BEGIN_ANEW_MS;
    const known = isAnew ? [] : [...this.floors.values()];
    const rows = await this.endpoints.readAll((after, most) => this.read(known, after, most));
    this.floors = new Map(rows.map((row) => [row.endpoint_id, row]));
    this.readAtMs = now;
    const endedAtMs = this.clock.monotonicMs();
    this.restsUntilMs = endedAtMs + RESTS_PER_READ * (endedAtMs - now);
    if (isAnew) this.begunAtMs = now;
  }

  private async read(known: readonly FloorRow[], after: string, most: number): Promise<FloorRow[]> {
    const some = known.filter(({ endpoint_id }) => endpoint_id > after).slice(0, most);
    const floors = JSON.stringify(Object.fromEntries(some.map(({ endpoint_id, floor }) => [endpoint_id, floor])));
    return (await this.database.query<FloorRow>(FLOORS, [floors, after, most])).rows;
  }
}
