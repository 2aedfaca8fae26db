import type { Clock } from '../../../kernel/clock.js';
import type { Database } from '../../../platform/database/database.js';

const FLOORS = {
  name: 'webhook_floors',
  text: `
    SELECT e.endpoint_id, least(w.due_at, clock_timestamp() - interval '5 seconds')::text AS floor, w.due_at IS NOT NULL AS has_waiting
      FROM webhook_endpoint e
      LEFT JOIN unnest($1::uuid[], $2::timestamptz[]) AS k (endpoint_id, floor) ON k.endpoint_id = e.endpoint_id
      LEFT JOIN LATERAL (
        SELECT d.due_at FROM webhook_delivery d
         WHERE d.endpoint_id = e.endpoint_id AND d.status = 'waiting' AND d.due_at >= coalesce(k.floor, '-infinity')
         ORDER BY d.due_at LIMIT 1) w ON true
     WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL`,
};

const REFRESH_MS = 500;
/** A commit that took longer than the five seconds of `FLOORS`, and a clock that was set back, are found with this delay. */
const BEGIN_ANEW_MS = 30_000;

interface FloorRow {
  readonly endpoint_id: string;
  readonly floor: string;
  readonly has_waiting: boolean;
}

/**
 * From which due time on each endpoint has something waiting. What was delivered leaves entries in the index of what is due, before all others,
 * until the next vacuum: a claim would read all of them each time. A new due time is never before the moment at which it is written, so the
 * lowest one only grows.
 */
export class DueFloors {
  private floors = new Map<string, FloorRow>();
  private readAtMs = Number.NEGATIVE_INFINITY;
  private begunAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** By endpoint that has something waiting: a time that is not later than the first due time. */
  async ofWaiting(): Promise<ReadonlyMap<string, string>> {
    if (this.clock.monotonicMs() - this.readAtMs >= REFRESH_MS) await this.refresh();
    const waiting = [...this.floors.values()].filter(({ has_waiting }) => has_waiting);
    return new Map(waiting.map(({ endpoint_id, floor }) => [endpoint_id, floor]));
  }

  /** Nothing was due: the next call reads again. */
  expire(): void {
    this.readAtMs = Number.NEGATIVE_INFINITY;
  }

  private async refresh(): Promise<void> {
    const now = this.clock.monotonicMs();
    const isAnew = now - this.begunAtMs >= BEGIN_ANEW_MS;
    const known = isAnew ? [] : [...this.floors.values()];
    const values = [known.map(({ endpoint_id }) => endpoint_id), known.map(({ floor }) => floor)];
    const { rows } = await this.database.query<FloorRow>(FLOORS, values);
    this.floors = new Map(rows.map((row) => [row.endpoint_id, row]));
    this.readAtMs = now;
    if (isAnew) this.begunAtMs = now;
  }
}
