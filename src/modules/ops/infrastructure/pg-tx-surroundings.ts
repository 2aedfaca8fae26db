import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { ReadDatabase } from '../../../platform/database/pools.js';
import type { CommandKind } from '../../commands/index.js';
import { TxQueries, type TxState } from '../../ledger/index.js';
import { type PauseJson, pauseOf, toPause } from '../../signers/index.js';
import { type Surroundings, TxSurroundings } from '../application/tx-surroundings.js';
import { type BehindRow, behindSince } from './behind-row.js';
import { gapColumns, type GapRow, gapSince } from './gap-row.js';

/**
 * Everything but money in one statement. The id of what blocks it is not told when another account sent that. The txs that wait are read in the two ranges of the index managed_tx_waiting: those that were not
 * tried, in their order, and those that were tried; each up to the limit. Gas that was not estimated counts as that of a plain transfer.
 */
const AROUND = {
  name: 'ops_tx_around',
  text: `
    SELECT t.replaced_by, coalesce(since.at, t.created_at) AS since, q.count AS waiting, q.value, q.gas, q.blobs, f.count AS in_flight, f.ahead,
           c.kind AS command, c.created_at AS command_since, c.tries AS command_tries, c.due_at AS command_due, b.tx_id AS blocker, b.nonce AS blocker_nonce, b.state AS blocker_state, b.held_by AS blocker_held_by,
           (SELECT l.owner_node FROM signer_lease l WHERE l.chain_id = t.chain_id AND l.signer = t.signer AND l.expires_at > clock_timestamp()) AS owner,
           ${pauseOf('t.chain_id', 't.signer', 't.account_id')} AS paused,
           n.behind, n.behind_since, ${gapColumns('t.chain_id', 't.signer', 'n')}
      FROM managed_tx t
      LEFT JOIN signer_nonce_cursor n ON n.chain_id = t.chain_id AND n.signer = t.signer
      LEFT JOIN LATERAL (
        SELECT e.created_at AS at FROM tx_event e
         WHERE e.tx_id = t.tx_id AND (e.from_state IS DISTINCT FROM e.to_state OR e.detail ? 'subState') ORDER BY e.seq DESC LIMIT 1) since ON true
      LEFT JOIN LATERAL (
        SELECT k.kind, k.created_at, k.tries, k.due_at FROM tx_command k WHERE k.tx_id = t.tx_id AND k.status = 'QUEUED' ORDER BY k.tx_id, k.command_id LIMIT 1) c ON true
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS count, coalesce(sum(a.value), 0) AS value,
              coalesce(sum(coalesce(a.gas_limit, (a.options->>'gasLimit')::bigint, 21000)), 0) AS gas,
              coalesce(sum(jsonb_array_length(a.options -> 'blobHashes')), 0) AS blobs FROM (
         (SELECT p.value, p.gas_limit, p.options FROM managed_tx p
           WHERE t.state = 'PENDING' AND p.chain_id = t.chain_id AND p.signer = t.signer AND p.state = 'PENDING'
             AND coalesce(p.next_resubmit_at, '-infinity'::timestamptz) = '-infinity' AND (-p.priority, p.tx_id) < (-t.priority, t.tx_id)
           ORDER BY -p.priority, p.tx_id LIMIT $2)
         UNION ALL
         (SELECT r.value, r.gas_limit, r.options FROM (
            SELECT p.* FROM managed_tx p
             WHERE t.state = 'PENDING' AND p.chain_id = t.chain_id AND p.signer = t.signer AND p.state = 'PENDING'
               AND coalesce(p.next_resubmit_at, '-infinity'::timestamptz) > '-infinity'
             ORDER BY coalesce(p.next_resubmit_at, '-infinity'::timestamptz) LIMIT $2) r
           WHERE (-r.priority, r.tx_id) < (-t.priority, t.tx_id))) a) q
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS count, (count(*) FILTER (WHERE t.nonce IS NULL OR m.nonce < t.nonce))::int AS ahead FROM (
         SELECT m.nonce FROM managed_tx m
          WHERE m.chain_id = t.chain_id AND m.signer = t.signer AND m.nonce >= 0 AND m.state IN ('ALLOCATED', 'IN_MEMPOOL')
            AND m.sub_state IS DISTINCT FROM 'REPLACING'
          ORDER BY m.nonce LIMIT $2) m) f
      LEFT JOIN LATERAL (
        SELECT CASE WHEN m.account_id = t.account_id THEN m.tx_id END AS tx_id, m.nonce, m.state,
               CASE WHEN m.kind = 'hold' THEN (SELECT o.name FROM account o WHERE o.account_id = m.account_id) END AS held_by
          FROM managed_tx m
         WHERE m.chain_id = t.chain_id AND m.signer = t.signer AND m.nonce >= 0 AND m.state IN ('ALLOCATED', 'IN_MEMPOOL')
           AND m.sub_state IS DISTINCT FROM 'REPLACING' AND (t.nonce IS NULL OR m.nonce < t.nonce) AND t.state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL')
         ORDER BY m.nonce LIMIT 1) b ON true
     WHERE t.tx_id = $1`,
};

interface AroundRow extends BehindRow, GapRow {
  replaced_by: string | null;
  since: Date;
  waiting: number;
  value: string;
  gas: string;
  blobs: string;
  in_flight: number;
  ahead: number;
  blocker: string | null;
  blocker_nonce: string | null;
  blocker_state: TxState | null;
  blocker_held_by: string | null;
  command: CommandKind | null;
  command_since: Date | null;
  command_tries: number | null;
  command_due: Date | null;
  owner: string | null;
  paused: PauseJson | null;
}

@Injectable()
export class PgTxSurroundings extends TxSurroundings {
  constructor(
    private readonly database: ReadDatabase,
    private readonly txs: TxQueries,
  ) {
    super();
  }

  async of(txId: string, signer: SignerId, most: number): Promise<Surroundings | null> {
    const { rows } = await this.database.query<AroundRow>(AROUND, [txId, most]);
    const committed = await this.txs.committedWei(signer);
    const [row] = rows;
    return row ? toSurroundings(row, committed) : null;
  }
}

function toSurroundings(row: AroundRow, committed: bigint): Surroundings {
  const { blocker, blocker_nonce: nonce, blocker_state: state, command: kind, command_since: since } = row;
  const { command_tries: tries, command_due: dueAt } = row;
  return {
    since: row.since,
    replacedBy: row.replaced_by,
    waitingAhead: { count: row.waiting, value: BigInt(row.value), gas: BigInt(row.gas), blobs: BigInt(row.blobs) },
    inFlight: row.in_flight,
    inFlightAhead: row.ahead,
    blockedBy:
      nonce !== null && state !== null
        ? { txId: blocker, nonce: BigInt(nonce), state, heldBy: row.blocker_held_by }
        : null,
    committed,
    leaseOwner: row.owner,
    paused: row.paused && toPause(row.paused),
    behind: behindSince(row),
    external: row.external,
    nonceGap: gapSince(row),
    command: kind !== null && since !== null && tries !== null && dueAt !== null ? { kind, since, tries, dueAt } : null,
  };
}
