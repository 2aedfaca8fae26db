import { Injectable } from '@nestjs/common';
import { parseSigner } from '../../../kernel/signer-id.js';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { ReadDatabase } from '../../../platform/database/pools.js';
import { pauseView, type PauseViewer } from '../domain/pause-view.js';
import { limitValues, withinLimits } from '../../../platform/database/within-limits.js';
import { type PauseJson, pauseOf, toPause } from '../../signers/index.js';
import { SignerLimits } from '../application/signer-limits.js';
import { SignerOverview, type SignerView } from '../application/signer-overview.js';
import { type BehindRow, behindSince } from './behind-row.js';
import { gapColumns, type GapRow, gapSince } from './gap-row.js';

/** Counts only the signers of this page, with the partial indexes of live rows: 100,000 txs of all of them together, or 1,000 of each. */
const LIST = {
  name: 'ops_signers',
  text: `
    WITH page AS MATERIALIZED (
      SELECT * FROM signer WHERE (chain_id, address) > ($1::bigint, $2::text) AND ${withinLimits('chain_id', 'address', '$4', '$5')}
       ORDER BY chain_id, address LIMIT $3),
    most AS MATERIALIZED (SELECT greatest(1000, 100000 / greatest(1, count(*))) AS of_one FROM page)
    SELECT s.chain_id, s.address, s.custody, ${pauseOf('s.chain_id', 's.address')} AS paused, l.owner_node, l.fencing_token, l.expires_at,
           l.expires_at > clock_timestamp() AS leased, c.next_nonce, c.behind, c.behind_since, ${gapColumns('s.chain_id', 's.address', 'c')}, p.count AS pending, f.count AS in_flight
      FROM page s
      LEFT JOIN signer_lease l ON l.chain_id = s.chain_id AND l.signer = s.address
      LEFT JOIN signer_nonce_cursor c ON c.chain_id = s.chain_id AND c.signer = s.address
     CROSS JOIN LATERAL (SELECT count(*) FROM (
       SELECT FROM managed_tx t WHERE t.chain_id = s.chain_id AND t.signer = s.address AND t.state = 'PENDING'
        LIMIT (SELECT of_one FROM most)) w) p
     CROSS JOIN LATERAL (SELECT count(*) FROM (
       SELECT FROM managed_tx t WHERE t.chain_id = s.chain_id AND t.signer = s.address AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
        LIMIT (SELECT of_one FROM most)) w) f
     ORDER BY s.chain_id, s.address`,
};

interface SignerRow extends BehindRow, GapRow {
  chain_id: string;
  address: string;
  custody: Record<string, unknown>;
  paused: PauseJson | null;
  owner_node: string | null;
  fencing_token: string | null;
  expires_at: Date | null;
  leased: boolean | null;
  next_nonce: string | null;
  pending: string;
  in_flight: string;
}

@Injectable()
export class PgSignerOverview extends SignerOverview {
  constructor(
    private readonly database: ReadDatabase,
    private readonly limits: SignerLimits,
  ) {
    super();
  }

  async list(
    after: { readonly chainId: number; readonly address: string } | null,
    limit: number,
    viewer: PauseViewer,
  ): Promise<SignerView[]> {
    const values = [after?.chainId ?? 0, after?.address ?? '', limit, ...limitValues(viewer.only)];
    const { rows } = await this.database.query<SignerRow>(LIST, values);
    return rows.map((row) => ({
      ...toView(row, viewer),
      inFlightLimit: this.limits.of(parseSigner(row.chain_id, row.address)),
    }));
  }
}

function toView(row: SignerRow, viewer: PauseViewer): Omit<SignerView, 'inFlightLimit'> {
  const leased = row.leased === true;
  return {
    chainId: Number(row.chain_id),
    address: row.address,
    custody: row.custody,
    leaseOwner: leased ? row.owner_node : null,
    fencingToken: row.fencing_token,
    leaseExpiresAt: leased && row.expires_at ? row.expires_at.toISOString() : null,
    cursor: row.next_nonce === null ? null : toJsonInteger(BigInt(row.next_nonce)),
    paused: row.paused && pauseView(toPause(row.paused), viewer),
    behind: behindSince(row),
    nonceGap: gapSince(row),
    pending: Number(row.pending),
    inFlight: Number(row.in_flight),
    backlog: Number(row.pending) + Number(row.in_flight),
  };
}
