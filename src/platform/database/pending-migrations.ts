import type { Database } from './database.js';
import { migrationNames } from './migrations.js';

const APPLIED = { name: 'migrations_applied', text: `SELECT name FROM migrations` };

/** Migrations of this build that are not applied to the database yet. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(APPLIED, []);
  const applied = new Set(rows.map((row) => row.name));
  return migrationNames().filter((name) => !applied.has(name));
}
