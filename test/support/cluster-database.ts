import { Pool, type QueryResultRow } from 'pg';

export interface LeaseRow {
  readonly owner: string;
  readonly token: bigint;
  readonly expired: boolean;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly acquiredAt: number;
  readonly expiresAt: number;
}

/** What the tests of a cluster read from its database, on connections of their own. */
export class ClusterDatabase {
  private readonly pool: Pool;

  constructor(url: string) {
    this.pool = new Pool({ connectionString: url, max: 4 });
    // A test may well end the server under an idle connection.
    this.pool.on('error', () => {});
  }

  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(sql, [...values])).rows;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  async lease(signer: string): Promise<LeaseRow | null> {
    const [row] = await this.query<{ fencing_token: string } & Omit<LeaseRow, 'token'>>(
      `SELECT owner_node AS owner, fencing_token, expires_at <= clock_timestamp() AS expired,
              extract(epoch FROM acquired_at)::float8 * 1000 AS "acquiredAt",
              extract(epoch FROM expires_at)::float8 * 1000 AS "expiresAt"
         FROM signer_lease WHERE signer = $1`,
      [signer.toLowerCase()],
    );
    return row ? { ...row, token: BigInt(row.fencing_token) } : null;
  }

  async countByState(requestIdPrefix = ''): Promise<Record<string, number>> {
    const rows = await this.query<{ state: string; count: string }>(
      `SELECT state, count(*) FROM managed_tx WHERE starts_with(request_id, $1) GROUP BY state`,
      [requestIdPrefix],
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
  }

  /** The signers with txs that are not final: who acts for them, and their txs by state. */
  async unfinished(): Promise<QueryResultRow[]> {
    return this.query(
      `SELECT s.*, l.owner_node, l.fencing_token, l.expires_at - clock_timestamp() AS lease_left, c.next_nonce, c.behind
         FROM (SELECT chain_id, signer, jsonb_object_agg(state, found) AS txs
                 FROM (SELECT chain_id, signer, state, to_jsonb(f) - '{chain_id,signer,state}'::text[] AS found
                         FROM (SELECT chain_id, signer, state, count(*), min(nonce) AS from_nonce, max(nonce) AS to_nonce,
                                      array_agg(DISTINCT sub_state) AS sub_states, (array_agg(DISTINCT last_error))[1:5] AS errors,
                                      min(next_resubmit_at) AS next_resubmit_at, min(next_receipt_check_at) AS next_receipt_check_at
                                 FROM managed_tx WHERE state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED')
                                GROUP BY chain_id, signer, state) f) by_state
                GROUP BY chain_id, signer) s
         LEFT JOIN signer_lease l USING (chain_id, signer) LEFT JOIN signer_nonce_cursor c USING (chain_id, signer)`,
    );
  }

  /** Slots that two different payloads were signed for. */
  async sharedSlots(): Promise<unknown[]> {
    return this.query(
      `SELECT signer, nonce, array_agg(DISTINCT tx_id) FROM tx_attempt WHERE kind = 'payload'
        GROUP BY chain_id, signer, nonce HAVING count(DISTINCT tx_id) > 1`,
    );
  }

  /**
   * Critical writes under an older token than one before them. A takeover waits for the fenced writers in flight, and a
   * fenced transaction has its id from its first statement on, so by transaction id the tokens of a signer never fall.
   */
  async staleWrites(): Promise<unknown[]> {
    return this.query(
      `SELECT * FROM (
         SELECT t.signer, e.reason, e.fencing_token, e.xid,
                max(e.fencing_token) OVER (PARTITION BY t.chain_id, t.signer ORDER BY e.xid, e.seq) AS newest
           FROM tx_event e JOIN managed_tx t USING (tx_id) WHERE e.fencing_token IS NOT NULL) AS writes
        WHERE fencing_token < newest`,
    );
  }
}
