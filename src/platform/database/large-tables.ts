import type { DataSource } from 'typeorm';
import { Unprocessable } from '../../kernel/errors.js';

/** Reading so many rows takes seconds to minutes, in which every node that works waits. */
const LARGE_ROWS = 1_000_000;
/** Of a table that nobody has counted yet; its rows are longer than this. */
const LEAST_ROW_BYTES = 100;

const ROWS = `
  SELECT c.relname AS name,
         CASE WHEN c.reltuples >= 0 THEN c.reltuples ELSE pg_relation_size(c.oid) / ${LEAST_ROW_BYTES} END::bigint AS rows
    FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = ANY($1)`;

/** A migration, and a large table that it would keep locked while it reads all of it. */
export interface LongLock {
  readonly migration: string;
  readonly table: string;
  /** By the server's own estimate. */
  readonly rows: number;
}

/** The tables that a migration says, in its first comment, it locks for as long as it takes to read or rebuild them. */
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

/** Somebody has to choose the time. */
export class LargeMigrationRefused extends Unprocessable {
  constructor(locks: readonly LongLock[]) {
    const list = locks.map(({ migration, table, rows }) => `${migration} locks ${table} (about ${rows} rows)`);
    super(
      'large_migration',
      `pending migrations lock large tables for as long as it takes to read them: ${list.join('; ')}`,
      'when all nodes may stand still for some minutes, start one node with LOCKSTEP_DATABASE_LARGE_MIGRATIONS=run; nodes of the version before go on until then',
      { locks },
    );
  }
}
