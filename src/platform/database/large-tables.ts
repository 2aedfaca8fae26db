import type { DataSource } from 'typeorm';
import { Unprocessable } from '../../kernel/errors.js';

/** Reading so many rows takes seconds to minutes, and every running node waits meanwhile. */
const LARGE_ROWS = 1_000_000;
/** For tables without statistics: their rows are longer than this, so the estimate is too high rather than too low. */
const MIN_ROW_BYTES = 100;

const ROWS = `
  SELECT c.relname AS name,
         CASE WHEN c.reltuples >= 0 THEN c.reltuples ELSE pg_relation_size(c.oid) / ${MIN_ROW_BYTES} END::bigint AS rows
    FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = ANY($1)`;

/** A migration, and a large table that it would lock while it reads the whole table. */
export interface LongLock {
  readonly migration: string;
  readonly table: string;
  /** Estimated by the server. */
  readonly rows: number;
}

/** The tables that a migration reads or rebuilds under a lock; its first comment lists them. */
export function lockedTables(sql: string): readonly string[] {
  const [, names = ''] = /^-- locks: (.+)$/m.exec(sql) ?? [];
  return names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

export async function longLocks(
  source: DataSource,
  pending: readonly { readonly name: string; readonly sql: string }[],
): Promise<LongLock[]> {
  const locks = pending.flatMap(({ name, sql }) => lockedTables(sql).map((table) => ({ migration: name, table })));
  if (locks.length === 0) return [];
  const found: { name: string; rows: string }[] = await source.query(ROWS, [locks.map(({ table }) => table)]);
  const rows = new Map(found.map((table) => [table.name, Number(table.rows)]));
  return locks.map((lock) => ({ ...lock, rows: rows.get(lock.table) ?? 0 })).filter((lock) => lock.rows >= LARGE_ROWS);
}

/** An operator has to choose the time for these migrations. */
export class LargeMigrationRefused extends Unprocessable {
  constructor(locks: readonly LongLock[]) {
    const list = locks.map(({ migration, table, rows }) => `${migration} locks ${table} (about ${rows} rows)`);
    super(
      'large_migration',
      `pending migrations lock large tables for as long as it takes to read them: ${list.join('; ')}`,
      'when all nodes may stop for some minutes, start one node with LOCKSTEP_DATABASE_LARGE_MIGRATIONS=run; nodes of the previous version run until then',
      { locks },
    );
  }
}
