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

async function run(database: Database, text: string): Promise<void> {
  await database.dataSource.query(text);
}
