import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DatabaseConfig } from '../../config/lockstep-config.js';
import { Log, type LogFields } from '../logging/log.js';
import { Database } from './database.js';

const SETTINGS = {
  name: 'durability_settings',
  text: `SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes')`,
};
/** Null, so nothing is found, where the locale of the database has no version, as C has none. */
const COLLATION = {
  name: 'collation_version',
  text: `
    SELECT d.datname AS database, d.datcollversion AS recorded, pg_database_collation_actual_version(d.oid) AS actual
      FROM pg_database d WHERE d.datname = current_database() AND d.datcollversion <> pg_database_collation_actual_version(d.oid)`,
};
/** Without `fsync` a crash of the machine may lose or damage commits; without `full_page_writes` it may tear pages. */
const MUST_BE_ON = ['fsync', 'full_page_writes'];
const DURABLE: ReadonlySet<string | undefined> = new Set(['on', 'remote_apply']);

interface Collation {
  readonly database: string;
  readonly recorded: string;
  readonly actual: string;
}

interface Risk {
  /** For the log. */
  readonly line: string;
  readonly problem: string;
  readonly fields: LogFields;
}

/** The server may lose commits that it has acknowledged, or rows that its indexes do not find any more. */
export class UnsafeDatabase extends Error {
  constructor(problem: string) {
    super(`the database may lose what it stored: ${problem}`);
    this.name = 'UnsafeDatabase';
  }
}

/**
 * Checks at start that the server keeps commits: a payload whose commit is lost after its bytes were sent may be executed twice. So may one
 * whose key an index does not find because the order of its texts changed. No index of ours has such an order; others' may.
 */
@Injectable()
export class CheckDurability implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly config: DatabaseConfig,
    private readonly log: Log,
  ) {}

  /** @throws UnsafeDatabase */
  async onModuleInit(): Promise<void> {
    const { rows } = await this.database.query<{ name: string; setting: string }>(SETTINGS, []);
    const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
    const mode = settings.get('synchronous_commit');
    if (!DURABLE.has(mode))
      throw new UnsafeDatabase(
        `synchronous_commit is ${mode} although every connection sets it to on; a connection pooler in between must keep session settings`,
      );
    const off = MUST_BE_ON.filter((name) => settings.get(name) === 'off');
    const risks = [
      ...(off.length > 0 ? [unkept(off)] : []),
      ...(await this.database.query<Collation>(COLLATION, [])).rows.map(unsorted),
    ];
    if (risks.length > 0 && this.config.unsafeServer === 'refuse')
      throw new UnsafeDatabase(`${risks.map(({ problem }) => problem).join('; ')} (database.unsafeServer: refuse)`);
    for (const { line, fields } of risks) this.log.error(line, fields);
  }
}

function unkept(settings: readonly string[]): Risk {
  return {
    line: 'unsafe database server: a crash may lose commits, and payloads may then be executed twice',
    problem: `the server runs without ${settings.join(', ')}`,
    fields: { settings },
  };
}

function unsorted({ database, recorded, actual }: Collation): Risk {
  const advice = `run REINDEX DATABASE CONCURRENTLY "${database}", then ALTER DATABASE "${database}" REFRESH COLLATION VERSION`;
  return {
    line: 'unsafe database server: its collation changed, and indexes of text may not find their rows',
    problem: `the collation of the database changed from version ${recorded} to ${actual}: ${advice}`,
    fields: { recorded, actual, advice },
  };
}
