import { Injectable } from '@nestjs/common';
import { AuditConfig, EventsConfig, TransactionsConfig } from '../../../config/lockstep-config.js';
import { Database } from '../../../platform/database/database.js';
import type { PgTx } from '../../../platform/database/pg-tx.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import { type DeletedBatch, OldEntries, OldEvents, OldTxs } from '../domain/old-rows.js';
import { DELETE_ENTRIES, DELETE_EVENTS, DELETE_TXS, OLDEST_EVENT, ONE_AT_A_TIME } from './retention.statements.js';

const EVENTS_LOCK_KEY = 1;
const MOST_EVENTS = 5_000;

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
  override readonly keepMs: number;
  private readonly portion = new Portion(MOST_EVENTS);
  private oldest = this.beginning;

  constructor(
    private readonly database: Database,
    config: EventsConfig,
  ) {
    super();
    this.keepMs = config.retention;
  }

  deleteBehind(place: string): Promise<DeletedBatch | null> {
    return this.portion.take((most) =>
      inTurn(this.database, EVENTS_LOCK_KEY, async (tx) => {
        const { rows } = await tx.query<EventBatchRow>(DELETE_EVENTS, [...place.split(':'), most, this.keepMs]);
        const row = rows[0];
        return {
          next: row?.xid && row.seq ? `${row.xid}:${row.seq}` : place,
          hasMore: row?.old === most,
          deleted: { tx_event: row?.deleted ?? 0 },
        };
      }),
    );
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

const TXS_LOCK_KEY = 2;
/** A tx has about ten rows in all, but one that was sent again for weeks has many thousands. */
const MOST_TXS = 500;

const TABLES = [
  ...(['managed_tx', 'tx_event', 'tx_attempt', 'tx_blob', 'permit_nonce'] as const),
  ...(['tx_command', 'signer_nonce_allocation'] as const),
] as const;

type TxBatchRow = Record<(typeof TABLES)[number] | 'looked_at', number> & { last: string | null };

/** A place is the id of a tx. */
@Injectable()
export class PgOldTxs extends OldTxs {
  override readonly beginning = '00000000-0000-0000-0000-000000000000';
  override readonly keepMs: number;
  private readonly portion = new Portion(MOST_TXS);

  constructor(
    private readonly database: Database,
    config: TransactionsConfig,
  ) {
    super();
    this.keepMs = config.retention;
  }

  deleteBehind(place: string): Promise<DeletedBatch | null> {
    return this.portion.take((most) =>
      inTurn(this.database, TXS_LOCK_KEY, async (tx) => {
        const { rows } = await tx.query<TxBatchRow>(DELETE_TXS, [place, this.keepMs, most]);
        const row = rows[0];
        return {
          next: row?.last ?? place,
          hasMore: row?.looked_at === most,
          deleted: Object.fromEntries(TABLES.map((table) => [table, row?.[table] ?? 0])),
        };
      }),
    );
  }
}

const ENTRIES_LOCK_KEY = 3;
const MOST_ENTRIES = 5_000;

interface EntryBatchRow {
  deleted: number;
  last: string | null;
}

/** A place is the number of an entry. */
@Injectable()
export class PgOldEntries extends OldEntries {
  override readonly beginning = '0';
  override readonly keepMs: number;
  private readonly portion = new Portion(MOST_ENTRIES);

  constructor(
    private readonly database: Database,
    config: AuditConfig,
  ) {
    super();
    this.keepMs = config.retention;
  }

  deleteBehind(place: string): Promise<DeletedBatch | null> {
    return this.portion.take((most) =>
      inTurn(this.database, ENTRIES_LOCK_KEY, async (tx) => {
        const { rows } = await tx.query<EntryBatchRow>(DELETE_ENTRIES, [place, most, this.keepMs]);
        const { deleted = 0, last = null } = rows[0] ?? {};
        return { next: last ?? place, hasMore: deleted === most, deleted: { audit_entry: deleted } };
      }),
    );
  }
}

/** @returns null without running `work` while another node has the lock; a node that dies gives it back */
export function inTurn<T>(database: Database, key: number, work: (tx: PgTx) => Promise<T>): Promise<T | null> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ taken: boolean }>(ONE_AT_A_TIME, [key]);
    return rows[0]?.taken ? work(tx) : null;
  });
}
