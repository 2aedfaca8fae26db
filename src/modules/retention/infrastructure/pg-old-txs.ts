import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type DeletedBatch, OldTxs } from '../domain/old-rows.js';
import { inTurn } from './in-turn.js';
import { DELETE_TXS } from './retention.statements.js';

const LOCK_KEY = 2;
/** A tx has about ten rows in all. */
const TXS_PER_BATCH = 500;

const TABLES = ['managed_tx', 'tx_event', 'tx_attempt', 'tx_blob', 'tx_command', 'signer_nonce_allocation'] as const;

type TxBatchRow = Record<(typeof TABLES)[number] | 'looked_at', number> & { last: string | null };

/** A place is the id of a tx. */
@Injectable()
export class PgOldTxs extends OldTxs {
  override readonly beginning = '00000000-0000-0000-0000-000000000000';

  constructor(private readonly database: Database) {
    super();
  }

  deleteBehind(place: string, keepMs: number): Promise<DeletedBatch | null> {
    return inTurn(this.database, LOCK_KEY, async (tx) => {
      const { rows } = await tx.query<TxBatchRow>(DELETE_TXS, [place, keepMs, TXS_PER_BATCH]);
      const row = rows[0];
      return {
        next: row?.last ?? place,
        hasMore: row?.looked_at === TXS_PER_BATCH,
        deleted: Object.fromEntries(TABLES.map((table) => [table, row?.[table] ?? 0])),
      };
    });
  }
}
