import type { Database } from '../../src/platform/database/database.js';

/**
 * As a standby that had not received the last commits of the lanes: slots, cursors, attempts and states are as before the first of
 * them, intake is not.
 */
export async function loseCommitsOfLanes(database: Database): Promise<void> {
  await run(database, 'DELETE FROM tx_attempt');
  await run(database, 'DELETE FROM signer_nonce_allocation');
  await run(database, 'DELETE FROM signer_nonce_cursor');
  await run(
    database,
    `UPDATE managed_tx SET state = 'PENDING', nonce = NULL, tx_hash = NULL, gas_limit = NULL, version = 0, sub_state = NULL,
            receipt = NULL, block_number = NULL, block_hash = NULL, confirmed_at = NULL, next_resubmit_at = NULL, next_receipt_check_at = NULL`,
  );
}

/** The allocation was kept, what was signed and sent after it is gone. */
export async function loseAttempts(database: Database): Promise<void> {
  await run(database, 'DELETE FROM tx_attempt');
  await run(
    database,
    `UPDATE managed_tx SET state = 'ALLOCATED', tx_hash = NULL, sub_state = NULL, next_resubmit_at = NULL, next_receipt_check_at = NULL
      WHERE state = 'IN_MEMPOOL'`,
  );
}

const TABLES = [
  'tx_attempt',
  'signer_nonce_allocation',
  'signer_nonce_cursor',
  'tx_command',
  'permit_nonce',
  'managed_tx',
];

/** What an asynchronous standby has: later commits are lost when it is promoted. */
export class Standby {
  static async of(database: Database): Promise<Standby> {
    for (const table of TABLES) await run(database, `CREATE TABLE standby_${table} AS SELECT * FROM ${table}`);
    return new Standby(database);
  }

  private constructor(private readonly database: Database) {}

  /** @param isNoticed whether the server shows that it is another one */
  async promote(isNoticed: boolean): Promise<void> {
    for (const table of TABLES) {
      const columns = await this.columnsOf(table);
      await run(this.database, `DELETE FROM ${table}`);
      await run(this.database, `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM standby_${table}`);
    }
    if (!isNoticed) return;
    await run(
      this.database,
      `INSERT INTO database_epoch (epoch, system_identifier, timeline, evidence, node_id)
       SELECT epoch + 1, system_identifier, timeline, 'cursor_went_backwards', node_id FROM database_epoch ORDER BY epoch DESC LIMIT 1`,
    );
  }

  private async columnsOf(table: string): Promise<string> {
    const rows: { name: string }[] = await this.database.dataSource.query(
      `SELECT column_name AS name FROM information_schema.columns
        WHERE table_name = '${table}' AND table_schema = current_schema() AND is_generated = 'NEVER'`,
    );
    return rows.map(({ name }) => `"${name}"`).join(', ');
  }
}

async function run(database: Database, text: string): Promise<void> {
  await database.dataSource.query(text);
}
