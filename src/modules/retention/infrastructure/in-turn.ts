import type { Database } from '../../../platform/database/database.js';
import type { PgTx } from '../../../platform/database/pg-tx.js';
import { ONE_AT_A_TIME } from './retention.statements.js';

/** @returns null without running `work` while another node has the lock; a node that dies gives it back */
export function inTurn<T>(database: Database, key: number, work: (tx: PgTx) => Promise<T>): Promise<T | null> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ taken: boolean }>(ONE_AT_A_TIME, [key]);
    return rows[0]?.taken ? work(tx) : null;
  });
}
