import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type DeletedBatch, OldEvents } from '../domain/old-rows.js';
import { inTurn } from './in-turn.js';
import { DELETE_EVENTS, OLDEST_EVENT } from './retention.statements.js';

const LOCK_KEY = 1;
const EVENTS_PER_BATCH = 5_000;

interface EventBatchRow {
  deleted: number;
  old: number;
  xid: string | null;
  seq: string | null;
}

/** A place is `xid:seq`. */
@Injectable()
export class PgOldEvents extends OldEvents {
  override readonly beginning = '0:0';
  private oldest = this.beginning;

  constructor(private readonly database: Database) {
    super();
  }

  deleteBehind(place: string, keepMs: number): Promise<DeletedBatch | null> {
    return inTurn(this.database, LOCK_KEY, async (tx) => {
      const { rows } = await tx.query<EventBatchRow>(DELETE_EVENTS, [...place.split(':'), EVENTS_PER_BATCH, keepMs]);
      const row = rows[0];
      return {
        next: row?.xid && row.seq ? `${row.xid}:${row.seq}` : place,
        hasMore: row?.old === EVENTS_PER_BATCH,
        deleted: { tx_event: row?.deleted ?? 0 },
      };
    });
  }

  async oldestAt(): Promise<Date | null> {
    const { rows } = await this.database.query<{ xid: string; seq: string; created_at: Date }>(
      OLDEST_EVENT,
      this.oldest.split(':'),
    );
    const row = rows[0];
    if (row) this.oldest = `${row.xid}:${row.seq}`;
    return row?.created_at ?? null;
  }
}
