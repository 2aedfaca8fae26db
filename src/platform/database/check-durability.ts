import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DatabaseConfig } from '../../config/lockstep-config.js';
import { Log } from '../logging/log.js';
import { Database } from './database.js';

const SETTINGS = {
  name: 'durability_settings',
  text: `SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes')`,
};
/** Without `fsync` a crash of the machine may lose or damage commits; without `full_page_writes` it may tear pages. */
const MUST_BE_ON = ['fsync', 'full_page_writes'];
const DURABLE: ReadonlySet<string | undefined> = new Set(['on', 'remote_apply']);

/** The server may lose commits that it has acknowledged. */
export class UnsafeDatabase extends Error {
  constructor(problem: string) {
    super(`the database may lose commits: ${problem}`);
    this.name = 'UnsafeDatabase';
  }
}

/** Checks at start that the server keeps commits: a payload whose commit is lost after its bytes were sent may be executed twice. */
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
    if (off.length > 0) this.unsafe(off);
  }

  private unsafe(settings: readonly string[]): void {
    if (this.config.unsafeServer === 'refuse')
      throw new UnsafeDatabase(`the server runs without ${settings.join(', ')} (database.unsafeServer: refuse)`);
    this.log.error('unsafe database server: a crash may lose commits, and payloads may then be executed twice', {
      settings,
    });
  }
}
