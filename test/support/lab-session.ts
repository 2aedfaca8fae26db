import { Client } from 'pg';
import type { SqlValue } from '../../src/platform/database/pg-tx.js';

/** One plain connection, for the naive shapes and for looking at the database from outside. */
export class Session {
  private constructor(
    private readonly client: Client,
    readonly pid: number,
  ) {}

  static async open(url: string): Promise<Session> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return new Session(client, rows[0]?.pid ?? 0);
  }

  async run<Row extends object>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(sql, [...values])).rows;
  }

  /** Rows that a write touched. */
  async write(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.client.query(sql, [...values])).rowCount ?? 0;
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
