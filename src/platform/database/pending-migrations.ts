import type { Database } from './database.js';
import { migrationNames } from './migrations.js';

const APPLIED = { name: 'migrations_applied', text: `SELECT name FROM migrations` };

/** Migrations that this build knows and the database has not had. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(APPLIED, []);
  const applied = new Set(rows.map((row) => row.name));
  return migrationNames().filter((name) => !applied.has(name));
}
