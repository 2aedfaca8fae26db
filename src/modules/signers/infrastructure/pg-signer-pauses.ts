import { Injectable } from '@nestjs/common';
import type { CallerLimits } from '../../../kernel/caller.js';
import { parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { limitValues } from '../../../platform/database/within-limits.js';
import {
  type Pause,
  type PausePlace,
  type PauseRequest,
  type PauseScope,
  SignerPauses,
} from '../domain/signer-pauses.js';
import { type PauseJson, pauseOf, toPause } from './pause-of.js';

/**
 * Of two requests at once the second one finds what the first one wrote: a conflict locks the row. A row that was made here has no xmax, the
 * mark of that lock.
 */
const PAUSE = {
  name: 'signer_pause',
  text: `
    INSERT INTO signer_pause (chain_id, signer, account, account_name, by, by_account, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (chain_id, signer, account) DO UPDATE SET reason = signer_pause.reason
    RETURNING *, xmax = 0 AS changed`,
};

const RESUME = {
  name: 'signer_resume',
  text: `DELETE FROM signer_pause WHERE chain_id = $1 AND signer = $2 AND account = $3`,
};

const IN_SCOPE = `$1::bigint IN (0, chain_id) AND $2::text IN ('', signer)`;

const SIGNERS = {
  name: 'signer_in_scope',
  text: `SELECT chain_id, signer FROM (SELECT chain_id, address AS signer FROM signer) AS s WHERE ${IN_SCOPE} ORDER BY 1, 2`,
};

const OF_SIGNER = { name: 'signer_pause_of', text: `SELECT ${pauseOf('$1::bigint', '$2::text', '$3')} AS pause` };

const LIST = {
  name: 'signer_pauses',
  text: `
    SELECT * FROM signer_pause p
     WHERE (p.chain_id, p.signer, p.account_name) > ($1::bigint, $2::text, $6::text)
       AND ($7::text IS NULL OR p.account IN ('', $7))
       AND ($5::bigint[] IS NULL OR p.chain_id = 0 OR p.chain_id = ANY($5))
       AND ($4::text[] IS NULL OR p.signer = '' OR EXISTS (
         SELECT FROM unnest($4) AS k (signer)
          WHERE p.chain_id IN (0, split_part(k.signer, ':', 1)::bigint) AND p.signer = split_part(k.signer, ':', 2)))
     ORDER BY p.chain_id, p.signer, p.account_name LIMIT $3`,
};

/**
 * FOR UPDATE conflicts with the lock that every write under a lease holds until it commits (fence_lock_leases), and with nothing that lasts
 * longer. What is free is locked for this statement only, so no signer waits for the write of another (I14).
 */
const IN_WRITING = {
  name: 'signer_leases_in_writing',
  text: `
    WITH slice AS MATERIALIZED (
      SELECT chain_id, signer FROM signer_lease WHERE ${IN_SCOPE} AND (chain_id, signer) > ($3::bigint, $4::text)
       ORDER BY chain_id, signer LIMIT $5
    ), free AS (
      SELECT l.chain_id, l.signer FROM slice JOIN signer_lease l USING (chain_id, signer) FOR UPDATE OF l SKIP LOCKED
    )
    SELECT slice.*, free.signer IS NULL AS "isBusy" FROM slice LEFT JOIN free USING (chain_id, signer) ORDER BY 1, 2`,
};

const WAIT_FOR_WRITE = {
  name: 'signer_wait_for_write',
  text: `SELECT FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE`,
};

interface LeaseRow {
  readonly chain_id: string;
  readonly signer: string;
  readonly isBusy: boolean;
}

/** Leases that one statement may lock. */
const SLICE = 500;

/** Before every key. */
const START: [number, string] = [-1, ''];

@Injectable()
export class PgSignerPauses extends SignerPauses {
  constructor(private readonly database: Database) {
    super();
  }

  async pause(
    tx: Tx,
    scope: PauseScope,
    { by, reason }: PauseRequest,
  ): Promise<{ readonly pause: Pause; readonly changed: boolean }> {
    const { rows } = await PgTx.of(tx).query<PauseJson & { changed: boolean }>(PAUSE, [
      ...keyOf(scope),
      scope.account?.id ?? '',
      scope.account?.name ?? '',
      by.name,
      by.account,
      reason,
    ]);
    const [row] = rows;
    if (!row) throw new Error('an insert that updates on conflict returned no row');
    return { pause: toPause(row), changed: row.changed };
  }

  async resume(tx: Tx, scope: PauseScope): Promise<boolean> {
    const { rowCount } = await PgTx.of(tx).query(RESUME, [...keyOf(scope), scope.account?.id ?? '']);
    return rowCount === 1;
  }

  async signers(tx: Tx, scope: PauseScope): Promise<SignerId[]> {
    const { rows } = await PgTx.of(tx).query<{ chain_id: string; signer: string }>(SIGNERS, keyOf(scope));
    return rows.map((row) => parseSigner(row.chain_id, row.signer));
  }

  async of({ chainId, address }: SignerId, account = ''): Promise<Pause | null> {
    const { rows } = await this.database.query<{ pause: PauseJson | null }>(OF_SIGNER, [chainId, address, account]);
    const pause = rows[0]?.pause ?? null;
    return pause && toPause(pause);
  }

  async list(after: PausePlace | null, limit: number, only: CallerLimits, account: string | null): Promise<Pause[]> {
    const values = [...(after ? keyOf(after) : START), limit, ...limitValues(only), after?.account ?? '', account];
    const { rows } = await this.database.query<PauseJson>(LIST, values);
    return rows.map(toPause);
  }

  /** Those that wait are waited for one by one: together they would hold the locks of those that were free. */
  async writesEnded(scope: PauseScope): Promise<void> {
    let after = START;
    for (;;) {
      const { rows } = await this.database.query<LeaseRow>(IN_WRITING, [...keyOf(scope), ...after, SLICE]);
      for (const { chain_id, signer } of rows.filter(({ isBusy }) => isBusy))
        await this.database.query(WAIT_FOR_WRITE, [chain_id, signer]);
      const last = rows.at(-1);
      if (!last || rows.length < SLICE) return;
      after = [Number(last.chain_id), last.signer];
    }
  }
}

/** Of its signers. */
function keyOf({ chainId, address }: Pick<PauseScope, 'chainId' | 'address'>): [number, string] {
  return [chainId ?? 0, address ?? ''];
}
