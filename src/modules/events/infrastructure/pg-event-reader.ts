import { Injectable } from '@nestjs/common';
import { type Hash, parseAddress } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { PgTx, type SqlRunner } from '../../../platform/database/pg-tx.js';
import { ReadDatabase } from '../../../platform/database/pools.js';
import { ALL_EVENTS, type EventFilter } from '../domain/event-filter.js';
import { behindRow, type EventPosition, LAST_PART, LOG_BEGINNING } from '../domain/event-position.js';
import { type EventPage, EventReader } from '../domain/event-reader.js';
import type { LoggedEvent } from '../domain/public-event.js';
import { PUBLISHED_REASONS, publicEventsOf } from '../domain/publish.js';

/**
 * Some rows after a place. The last row says whether more follow that cannot be read yet, and how far the page goes. What is joined never
 * changes: the signer, the account and the request of a tx, the nonce of an attempt, and that of a hold once it has one. Fills are silent.
 */
export const PAGE = {
  name: 'event_page',
  text: `
    WITH horizon AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin),
    page AS MATERIALIZED (
      SELECT * FROM tx_event p WHERE (p.xid, p.seq) > ($1::text::xid8, $2::bigint) AND p.xid < (SELECT xmin FROM horizon) ORDER BY p.xid, p.seq LIMIT $3),
    known AS (
      SELECT p.*, t.request_id, t.replaces, t.options ->> 'callback' AS callback, t.account_id, t.kind, t.signer AS tx_signer,
             CASE WHEN t.kind = 'hold' THEN t.nonce ELSE a.nonce END AS nonce,
             p.reason = 'mined' AND EXISTS (SELECT FROM tx_event o WHERE o.tx_id = p.tx_id AND o.seq < p.seq AND o.reason = 'reorg_detected') AS after_reorg
        FROM page p
        LEFT JOIN managed_tx t ON t.tx_id = p.tx_id
        LEFT JOIN tx_attempt a ON a.chain_id = p.chain_id AND a.tx_hash = p.tx_hash
       WHERE p.reason = ANY($4::text[]) AND (p.tx_id IS NULL OR t.kind = 'hold' OR (t.kind = 'payload' AND p.reason <> 'nonce_reserved'))
         AND ($5::bigint IS NULL OR p.chain_id = $5) AND ($6::uuid IS NULL OR p.tx_id = $6) AND ($7::text IS NULL OR coalesce(p.signer, t.signer) = $7))
    SELECT k.xid::text AS xid, k.seq, k.created_at, k.reason, k.chain_id, coalesce(k.signer, k.tx_signer) AS signer, k.tx_id, k.request_id, k.replaces,
           k.callback, k.account_id, k.to_state, k.nonce, k.tx_hash, k.block_number, k.block_hash, k.error, k.detail, k.after_reorg, k.kind = 'hold' AS is_hold,
           NULL::bigint AS read, NULL::boolean AS held_back
      FROM known k
     UNION ALL
    SELECT (SELECT q.xid FROM page q ORDER BY q.xid DESC, q.seq DESC LIMIT 1)::text, (SELECT q.seq FROM page q ORDER BY q.xid DESC, q.seq DESC LIMIT 1),
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           (SELECT count(*) FROM page), EXISTS (SELECT FROM tx_event h WHERE h.xid >= (SELECT xmin FROM horizon))`,
};

const END = {
  name: 'event_end',
  text: `
    SELECT e.xid::text AS xid, e.seq FROM tx_event e
     WHERE e.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid DESC, e.seq DESC LIMIT 1`,
};

/**
 * Rows from half an hour ago on are never deleted (`events.retention`), and a place is that of a row. So a place is lost when its row is not
 * there and the one before it is that young; and when no database transaction had its id yet.
 */
const KNOWS = {
  name: 'event_knows',
  text: `
    SELECT $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())
       AND (EXISTS (SELECT FROM tx_event e WHERE e.xid = $1::text::xid8 AND e.seq = $2::bigint)
         OR coalesce((SELECT p.created_at < clock_timestamp() - interval '30 minutes' FROM tx_event p
                       WHERE (p.xid, p.seq) < ($1::text::xid8, $2::bigint) ORDER BY p.xid DESC, p.seq DESC LIMIT 1), true)) AS knows`,
};

interface PageRow {
  xid: string;
  seq: string;
  created_at: Date;
  reason: string;
  chain_id: string;
  signer: string;
  tx_id: string | null;
  request_id: string | null;
  replaces: string | null;
  callback: string | null;
  account_id: string | null;
  to_state: string | null;
  nonce: string | null;
  tx_hash: Hash | null;
  block_number: string | null;
  block_hash: Hash | null;
  error: string | null;
  detail: JsonObject | null;
  after_reorg: boolean | null;
  is_hold: boolean | null;
  read: null;
  held_back: null;
}

/** The position of the last row. */
interface PageEnd {
  xid: string | null;
  seq: string | null;
  read: string;
  held_back: boolean;
}

@Injectable()
export class PgEventReader extends EventReader {
  constructor(private readonly database: ReadDatabase) {
    super();
  }

  page(after: EventPosition, limit: number, filter: EventFilter = ALL_EVENTS): Promise<EventPage> {
    return readPage(this.database, after, limit, filter);
  }

  pageIn(tx: Tx, after: EventPosition, limit: number): Promise<EventPage> {
    return readPage(PgTx.of(tx), after, limit, ALL_EVENTS);
  }

  async knows({ xid, seq }: EventPosition): Promise<boolean> {
    const { rows } = await this.database.query<{ knows: boolean }>(KNOWS, [xid.toString(), seq]);
    return rows[0]?.knows ?? false;
  }

  async end(): Promise<EventPosition> {
    const { rows } = await this.database.query<{ xid: string; seq: string }>(END, []);
    return rows[0] ? behindRow(rows[0].xid, rows[0].seq) : LOG_BEGINNING;
  }
}

async function readPage(
  runner: SqlRunner,
  after: EventPosition,
  limit: number,
  { chainId, txId, signer }: EventFilter,
): Promise<EventPage> {
  // A place between two parts of a row: the row is read again, and its first parts are left out.
  const isWithin = after.part < LAST_PART && after.seq > 0n;
  const from = [after.xid.toString(), isWithin ? after.seq - 1n : after.seq, limit, PUBLISHED_REASONS];
  const { rows } = await runner.query<PageRow | PageEnd>(PAGE, [...from, chainId, txId, signer]);
  const end = rows.find(isEnd);
  const found = rows.flatMap((row) => (isEnd(row) ? [] : publicEventsOf(toLogged(row))));
  const events = found.filter(
    ({ position }) => !(position.xid === after.xid && position.seq === after.seq && position.part <= after.part),
  );
  return {
    events,
    next: end?.xid != null && end.seq != null ? behindRow(end.xid, end.seq) : after,
    hasMore: Number(end?.read ?? 0) === limit,
    isHeldBack: end?.held_back ?? false,
  };
}

function isEnd(row: PageRow | PageEnd): row is PageEnd {
  return row.held_back !== null;
}

function toLogged(row: PageRow): LoggedEvent {
  return {
    xid: BigInt(row.xid),
    seq: BigInt(row.seq),
    time: row.created_at,
    reason: row.reason,
    chainId: Number(row.chain_id),
    signer: parseAddress(row.signer),
    txId: row.tx_id,
    requestId: row.request_id,
    replaces: row.replaces,
    callback: row.callback,
    account: row.account_id,
    toState: row.to_state,
    nonce: row.nonce === null ? null : BigInt(row.nonce),
    txHash: row.tx_hash,
    block:
      row.block_number === null || row.block_hash === null
        ? null
        : { number: Number(row.block_number), hash: row.block_hash },
    error: row.error,
    detail: row.detail,
    isAfterReorg: row.after_reorg ?? false,
    isHold: row.is_hold ?? false,
  };
}
