import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { KEPT } from '../../src/dev/paths.js';
import { removeCluster } from '../../src/dev/postgres-home.js';
import { runMigrations } from '../../src/platform/database/migrations.js';
import { type RunningPostgres, startPostgres } from '../../test/support/postgres.js';
import { createDatabase, databaseUrl } from '../../test/support/test-database.js';
import { atExit, killIfAlive } from './at-exit.js';

const TEMPLATE = 'bench_template';

/**
 * A PostgreSQL server of the run's own, with the defaults of PostgreSQL 18: fsync and synchronous commits are on. Its
 * data lie below the clone and not in /tmp, which may be memory.
 */
export class BenchPostgres {
  private databases = 0;

  private constructor(
    private readonly server: RunningPostgres,
    private readonly dataDir: string,
    private readonly forget: () => void,
  ) {}

  /** @param countStatements with `pg_stat_statements`, which costs a little */
  static async start(countStatements: boolean): Promise<BenchPostgres> {
    const parent = join(KEPT, 'bench');
    mkdirSync(parent, { recursive: true });
    const dataDir = mkdtempSync(join(parent, 'postgres-'));
    let server: RunningPostgres | null = null;
    const forget = atExit(() => {
      if (server) killIfAlive(server.pid, 'SIGQUIT');
      removeCluster(dataDir);
    });
    server = await startPostgres({ dataDir, durable: true });
    if (countStatements) {
      await execute(server.url, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
      await server.stop();
      server = await startPostgres({ dataDir, durable: true });
    }
    const postgres = new BenchPostgres(server, dataDir, forget);
    await postgres.prepareTemplate(countStatements);
    return postgres;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** Migrated and empty; what earlier measurements left to write is on the disk. */
  async createDatabase(): Promise<string> {
    this.databases += 1;
    const name = `bench_${this.databases}`;
    await createDatabase(this.server.url, name, TEMPLATE);
    await execute(this.server.url, 'CHECKPOINT');
    return databaseUrl(this.server.url, name);
  }

  async dropDatabase(url: string): Promise<void> {
    await execute(this.server.url, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  }

  async stop(): Promise<void> {
    await this.server.stop();
    removeCluster(this.dataDir);
    this.forget();
  }

  private async prepareTemplate(countStatements: boolean): Promise<void> {
    await createDatabase(this.server.url, TEMPLATE);
    const url = databaseUrl(this.server.url, TEMPLATE);
    await runMigrations(url);
    if (countStatements) await execute(url, 'CREATE EXTENSION pg_stat_statements');
  }
}

/** A server for the length of `work`. */
export async function withPostgres<T>(
  countStatements: boolean,
  work: (postgres: BenchPostgres) => Promise<T>,
): Promise<T> {
  const postgres = await BenchPostgres.start(countStatements);
  try {
    return await work(postgres);
  } finally {
    await postgres.stop();
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
