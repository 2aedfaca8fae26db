import { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseConfig } from '../../src/config/index.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { createDataSource } from '../../src/platform/database/data-source.js';

/** One database for one seed after the other. The nodes share its pool: what tells them apart is who they say they are. */
export class SimDatabase {
  private constructor(
    readonly url: string,
    readonly source: DataSource,
    /** The simulation's own connections, past every gate. */
    readonly own: Pool,
    /** One connection: answers come in the order of the questions. */
    readonly orderly: Pool,
  ) {}

  static async open(url: string): Promise<SimDatabase> {
    const config = new DatabaseConfig();
    config.url = url;
    config.poolSize = 24;
    config.statementTimeout = 20_000;
    config.lockTimeout = 20_000;
    config.idleInTransactionTimeout = 20_000;
    const source = createDataSource(config);
    await source.initialize();
    const poolOf = (max: number): Pool => new Pool({ connectionString: url, max });
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

  /** Whether any statement waits for a lock of another. */
  async isAnyoneWaiting(): Promise<boolean> {
    const { rowCount } = await this.own.query('SELECT FROM pg_locks WHERE NOT granted');
    return (rowCount ?? 0) > 0;
  }

  /** Stands for time that passed: the owner does not know. */
  async expireLease(signer: SignerId): Promise<void> {
    await this.own.query(`UPDATE signer_lease SET expires_at = '-infinity' WHERE chain_id = $1 AND signer = $2`, [
      signer.chainId,
      signer.address,
    ]);
  }

  /**
   * Stands for time, too: every timer has run out. For all alike, so that the order among them stays: whoever was served last
   * comes last.
   */
  async makeTimersDue(): Promise<void> {
    // What a paused transaction has locked is left for the next time.
    await this.own.query(
      `UPDATE managed_tx t
          SET next_resubmit_at = t.next_resubmit_at - interval '2 minutes',
              next_receipt_check_at = t.next_receipt_check_at - interval '2 minutes'
         FROM (SELECT tx_id FROM managed_tx WHERE state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') FOR UPDATE SKIP LOCKED) AS free
        WHERE t.tx_id = free.tx_id`,
    );
  }
}
