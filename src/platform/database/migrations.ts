import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';

const DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), '../../../migrations');
/** Any fixed number: nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_250_315;

type MigrationClass = new () => MigrationInterface;

/** The SQL files as TypeORM migrations: `<timestamp>-<name>.up.sql` and its `.down.sql`. */
export function migrationClasses(): MigrationClass[] {
  return migrationFiles().map(migrationClass);
}

/** As TypeORM records them. */
export function migrationNames(): string[] {
  return migrationFiles().map(nameOf);
}

function migrationFiles(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.up.sql'))
    .sort()
    .map((file) => file.slice(0, -'.up.sql'.length));
}

function migrationClass(base: string): MigrationClass {
  return class implements MigrationInterface {
    readonly name = nameOf(base);
    up = (runner: QueryRunner): Promise<void> => execute(runner, `${base}.up.sql`);
    down = (runner: QueryRunner): Promise<void> => execute(runner, `${base}.down.sql`);
  };
}

/** TypeORM reads the order from the digits at the end of the name. */
function nameOf(base: string): string {
  const [timestamp = '', ...words] = base.split('-');
  return `${words.join('_')}${timestamp}`;
}

async function execute(runner: QueryRunner, file: string): Promise<void> {
  await runner.query(readFileSync(join(DIRECTORY, file), 'utf8'));
}

/** Brings the schema up to date. Safe to run on every node at once. */
export async function runMigrations(url: string): Promise<void> {
  await withMigrations(url, async (dataSource) => {
    await dataSource.runMigrations({ transaction: 'each' });
  });
}

/** Undoes every migration, newest first. */
export async function revertMigrations(url: string): Promise<void> {
  await withMigrations(url, async (dataSource) => {
    for (const _ of migrationClasses()) await dataSource.undoLastMigration({ transaction: 'each' });
  });
}

async function withMigrations(url: string, work: (dataSource: DataSource) => Promise<void>): Promise<void> {
  const dataSource = new DataSource({ type: 'postgres', url, migrations: migrationClasses(), extra: { max: 2 } });
  await dataSource.initialize();
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await work(dataSource);
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await lock.release();
    await dataSource.destroy();
  }
}
