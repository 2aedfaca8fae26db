import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue, type Statement } from '../../../platform/database/pg-tx.js';
import { type Pause, type PauseChange, type PauseRequest, SignerPauses } from '../domain/signer-pauses.js';

/** Locks the row first, so that of two requests at once the second one finds what the first one wrote. */
const PAUSE = {
  name: 'signer_pause',
  text: `
    WITH known AS (SELECT chain_id, address, paused_at FROM signer WHERE chain_id = $1 AND address = $2 FOR UPDATE)
    UPDATE signer s
       SET paused_at = coalesce(s.paused_at, clock_timestamp()), paused_by = coalesce(s.paused_by, $3),
           pause_reason = CASE WHEN s.paused_at IS NULL THEN $4 ELSE s.pause_reason END
      FROM known k WHERE s.chain_id = k.chain_id AND s.address = k.address
    RETURNING s.paused_at, s.paused_by, s.pause_reason, k.paused_at IS NULL AS changed`,
};

const RESUME = {
  name: 'signer_resume',
  text: `
    WITH known AS (SELECT chain_id, address, paused_at FROM signer WHERE chain_id = $1 AND address = $2 FOR UPDATE)
    UPDATE signer s SET paused_at = NULL, paused_by = NULL, pause_reason = NULL
      FROM known k WHERE s.chain_id = k.chain_id AND s.address = k.address
    RETURNING s.paused_at, s.paused_by, s.pause_reason, k.paused_at IS NOT NULL AS changed`,
};

/**
 * Conflicts with the lock that every write under a lease holds until it commits (fence_lock_leases), and with nothing that lasts longer. It
 * is released at once.
 */
const WAIT_FOR_WRITES = {
  name: 'signer_wait_for_writes',
  text: `SELECT FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE`,
};

interface PauseRow {
  paused_at: Date | null;
  paused_by: string | null;
  pause_reason: string | null;
  changed: boolean;
}

@Injectable()
export class PgSignerPauses extends SignerPauses {
  constructor(private readonly database: Database) {
    super();
  }

  pause(tx: Tx, { chainId, address }: SignerId, { by, reason }: PauseRequest): Promise<PauseChange | null> {
    return change(tx, PAUSE, [chainId, address, by, reason]);
  }

  resume(tx: Tx, { chainId, address }: SignerId): Promise<PauseChange | null> {
    return change(tx, RESUME, [chainId, address]);
  }

  async writesEnded({ chainId, address }: SignerId): Promise<void> {
    await this.database.query(WAIT_FOR_WRITES, [chainId, address]);
  }
}

async function change(tx: Tx, statement: Statement, values: readonly SqlValue[]): Promise<PauseChange | null> {
  const { rows } = await PgTx.of(tx).query<PauseRow>(statement, values);
  const [row] = rows;
  return row ? { pause: pauseOf(row), changed: row.changed } : null;
}

function pauseOf({ paused_at, paused_by, pause_reason }: PauseRow): Pause | null {
  return paused_at === null ? null : { since: paused_at, by: paused_by ?? '', reason: pause_reason };
}
