import { Client, type QueryResultRow } from 'pg';

/** The reasons of the event log that the benchmark takes its times from. */
export type Milestone = 'queued' | 'sent' | 'mined' | 'confirmed';

export interface Reached {
  readonly transactions: number;
  /** When the last one got there. Unix milliseconds, by the database's clock, which is this machine's. */
  readonly last: number;
}

/** Reads what happened from the database after it happened, on one connection of its own. */
export class TxLog {
  /** Statements of this reader, to be taken off what the server counted. */
  statements = 0;

  private constructor(private readonly client: Client) {}

  static async open(url: string): Promise<TxLog> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const log = new TxLog(client);
    // The partial indexes hold live rows only; with few of them in a large table the planner may think otherwise.
    await log.query('SET enable_seqscan = off');
    return log;
  }

  /** A place in the log, by transaction id as its key begins with it. Later reads look only behind it. */
  async mark(): Promise<string> {
    const [row] = await this.query<{ xid: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid');
    if (!row) throw new Error('PostgreSQL did not say which transaction comes next');
    return row.xid;
  }

  /** Whether anything is not final yet. Costs two probes of partial indexes. */
  async isBusy(): Promise<boolean> {
    const [row] = await this.query<{ busy: boolean }>(
      `SELECT EXISTS (SELECT FROM managed_tx WHERE state = 'PENDING')
           OR EXISTS (SELECT FROM managed_tx WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')) AS busy`,
    );
    return row?.busy ?? true;
  }

  async reached(milestone: Milestone, mark: string): Promise<Reached> {
    const [row] = await this.query<{ transactions: string; last: string | null }>(
      `SELECT count(DISTINCT tx_id) AS transactions, (extract(epoch FROM max(created_at)) * 1000)::text AS last
         FROM tx_event WHERE xid >= $2::xid8 AND reason = $1`,
      [milestone, mark],
    );
    return { transactions: Number(row?.transactions ?? 0), last: Number(row?.last ?? NaN) };
  }

  /** From one milestone to the next of the same transaction, for all behind the mark. Milliseconds. */
  async intervals(from: Milestone, to: Milestone, mark: string): Promise<number[]> {
    const rows = await this.query<{ ms: string }>(
      `WITH steps AS (
         SELECT tx_id, min(created_at) FILTER (WHERE reason = $1) AS began, min(created_at) FILTER (WHERE reason = $2) AS ended
           FROM tx_event WHERE xid >= $3::xid8 AND reason IN ($1, $2) GROUP BY tx_id)
       SELECT (extract(epoch FROM ended - began) * 1000)::text AS ms FROM steps WHERE began IS NOT NULL AND ended IS NOT NULL`,
      [from, to, mark],
    );
    return rows.map(({ ms }) => Number(ms));
  }

  /** Transactions behind the mark that reached `from`, and never `to`: those that {@link intervals} has no time of. */
  async missing(from: Milestone, to: Milestone, mark: string): Promise<number> {
    const [row] = await this.query<{ missing: string }>(
      `SELECT count(*) AS missing FROM (
         SELECT FROM tx_event WHERE xid >= $3::xid8 AND reason IN ($1, $2) GROUP BY tx_id
         HAVING bool_or(reason = $1) AND NOT bool_or(reason = $2)) AS without`,
      [from, to, mark],
    );
    return Number(row?.missing ?? Number.NaN);
  }

  /** Leases that somebody holds now. */
  async heldLeases(): Promise<number> {
    const [row] = await this.query<{ held: string }>(
      'SELECT count(*) AS held FROM signer_lease WHERE expires_at > clock_timestamp()',
    );
    return Number(row?.held ?? 0);
  }

  /** How many nodes have had leases. */
  async owners(): Promise<number> {
    const [row] = await this.query<{ owners: string }>('SELECT count(DISTINCT owner_node) AS owners FROM signer_lease');
    return Number(row?.owners ?? 0);
  }

  /** How many are in each state, for messages. */
  async states(): Promise<Record<string, number>> {
    const rows = await this.query<{ state: string; count: string }>(
      'SELECT state, count(*) FROM managed_tx GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
  }

  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.statements += 1;
    return (await this.client.query<Row>(sql, [...values])).rows;
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
