import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { ChainActivity } from '../application/head-tracking-duty.js';

/** Writes in the order of chain ids, so that concurrent nodes never deadlock. The SELECT does not see the rows of its own INSERT. */
const NOTE = {
  name: 'chain_activity_note',
  text: `
    WITH noted AS (
      INSERT INTO chain_activity (chain_id, last_work_at) SELECT chain_id, clock_timestamp() FROM unnest($1::bigint[]) AS c (chain_id) ORDER BY 1
          ON CONFLICT (chain_id) DO UPDATE SET last_work_at = excluded.last_work_at)
    SELECT chain_id, extract(epoch FROM clock_timestamp() - last_work_at) * 1000 AS age_ms FROM chain_activity`,
};

@Injectable()
export class PgChainActivity extends ChainActivity {
  constructor(private readonly database: Database) {
    super();
  }

  async note(chainIds: readonly ChainId[]): Promise<ReadonlyMap<ChainId, number>> {
    const { rows } = await this.database.query<{ chain_id: string; age_ms: string }>(NOTE, [chainIds]);
    return new Map(rows.map((row) => [Number(row.chain_id), Number(row.age_ms)]));
  }
}
