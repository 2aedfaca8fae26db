import { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseConfig } from '../../src/config/index.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { installTime, NEXT_TIMELINE, PASS_TIME, START_TIME } from './database-time.js';
import { Standby } from './standby.js';
import { createDataSource, lanePool } from '../../src/platform/database/data-source.js';

/** One database for one seed after the other. The nodes share its pool: what tells them apart is who they say they are. */
export class SimDatabase {
  /** How often another server took the place of the last one. */
  failovers = 0;
  private readonly standby: Standby;

  private constructor(
    readonly url: string,
    readonly source: DataSource,
    /** The simulation's own connections, past every gate. */
    readonly own: Pool,
    /** One connection: answers come in the order of the questions. */
    readonly orderly: Pool,
  ) {
    this.standby = new Standby(own);
  }

  static async open(url: string): Promise<SimDatabase> {
    const config = new DatabaseConfig();
    config.url = url;
    config.poolSize = 24;
    config.statementTimeout = 20_000;
    const pool = lanePool(config);
    // For how long a transaction is held is a matter of the script, and on a busy machine that takes any time.
    config.statementTimeout = 1_800_000;
    await installTime(url);
    const source = createDataSource(config, pool);
    await source.initialize();
    await settlePool(source, config.poolSize);
    // `end()` of a pool does not wait until its connections are closed, and a server that stops next tells them so.
    const poolOf = (max: number): Pool => new Pool({ connectionString: url, max }).on('error', () => undefined);
    return new SimDatabase(url, source, poolOf(4), poolOf(1));
  }

  async close(): Promise<void> {
    await this.source.destroy();
    await this.own.end();
    await this.orderly.end();
  }

  /** As a new database, except for the signers. */
  async reset(signers: readonly SignerId[]): Promise<void> {
    await this.clear();
    await this.own.query(START_TIME);
    await this.own.query(
      `INSERT INTO signer (chain_id, address, custody) SELECT c, a, '{}' FROM unnest($1::bigint[], $2::text[]) AS s (c, a)`,
      [signers.map(({ chainId }) => chainId), signers.map(({ address }) => address)],
    );
  }

  /** DELETE is quicker than TRUNCATE for a few hundred rows. */
  async clear(): Promise<void> {
    const { rows } = await this.own.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'`,
    );
    await this.own.query(rows.map(({ name }) => `DELETE FROM ${name}`).join(';'));
  }

  /** A standby has everything that was committed until now, and nothing that comes after it. */
  async fallBehind(): Promise<void> {
    await this.standby.copy();
  }

  /** The standby is promoted: all later commits are lost, and all connections break. */
  async failOver(): Promise<void> {
    await this.standby.promote();
    await this.own.query(NEXT_TIMELINE);
    this.failovers += 1;
  }

  /** Whether any statement waits for a lock of another. */
  async isAnyoneWaiting(): Promise<boolean> {
    const { rowCount } = await this.own.query('SELECT FROM pg_locks WHERE NOT granted');
    return (rowCount ?? 0) > 0;
  }

  /** Stands for time that passed for this lease alone: the owner does not know. */
  async expireLease(signer: SignerId): Promise<void> {
    await this.own.query(
      `UPDATE signer_lease SET expires_at = clock_timestamp() - interval '1 day' WHERE chain_id = $1 AND signer = $2`,
      [signer.chainId, signer.address],
    );
  }

  /** For everything that the nodes ask of the database's clock. */
  async passTime(ms: number): Promise<void> {
    await this.own.query({ name: 'pass_time', text: PASS_TIME, values: [ms] });
  }
}

/** A connection that is made in the middle of a seed would change the order of what happens at once: a replay goes another way. */
async function settlePool(source: DataSource, size: number): Promise<void> {
  if (!('master' in source.driver)) throw new TypeError('the data source is not a connected PostgreSQL data source');
  const pool = source.driver.master as Pool;
  pool.options.idleTimeoutMillis = 0;
  // Every node of every seed listens to it.
  pool.setMaxListeners(0);
  const clients = await Promise.all(Array.from({ length: size }, () => pool.connect()));
  for (const client of clients) client.release();
}
