import type { QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseUnavailable } from '../../src/platform/database/database-errors.js';
import type { PgTx, SqlValue, Statement } from '../../src/platform/database/pg-tx.js';
import type { Gate } from './gate.js';

/** What changes rows, and is no lock. */
const WRITE = /(?<!FOR |KEY )\bUPDATE\b|\b(INSERT INTO|DELETE FROM)\b/;

/** The real database, with the node's gate before and after every statement, and on both sides of every commit, which is named by its writes. */
export class GatedDatabase extends Database {
  constructor(
    source: DataSource,
    private readonly gate: Gate,
    private readonly server: { readonly failovers: number },
  ) {
    super(source);
  }

  /** The nodes share their connections, which in a real failover all break. */
  override get connects(): number {
    return this.server.failovers;
  }

  override async query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> {
    const place = WRITE.test(statement.text) ? `COMMIT of ${statement.name}` : statement.name;
    await this.pass(`before ${place}`, false);
    const result = await this.gate.during(() => super.query<Row>(statement, values));
    await this.pass(`after ${place}`, false);
    return result;
  }

  override async transaction<T>(work: (tx: PgTx) => Promise<T>): Promise<T> {
    await this.pass('before BEGIN', false);
    const writes = new Set<string>();
    const commit = (): string => (writes.size === 0 ? 'END' : `COMMIT of ${[...writes].join()}`);
    const result = await this.gate.during(() =>
      super.transaction(async (tx) => {
        this.watch(tx, writes);
        const done = await work(tx);
        // Here a failure is a connection that breaks before the commit,
        await this.pass(`before ${commit()}`, true);
        return done;
      }),
    );
    // and here it is a commit whose answer is lost.
    await this.pass(`after ${commit()}`, false);
    return result;
  }

  private watch(tx: PgTx, writes: Set<string>): void {
    const query = tx.query.bind(tx);
    tx.query = async <Row extends QueryResultRow>(
      statement: Statement,
      values: readonly SqlValue[],
    ): Promise<QueryResult<Row>> => {
      if (WRITE.test(statement.text)) writes.add(statement.name);
      const answer = await query<Row>(statement, values);
      await this.pass(`after ${statement.name} in its transaction`, true);
      return answer;
    };
  }

  private pass(place: string, locked: boolean): Promise<void> {
    return this.gate.pass(place, locked, () => new DatabaseUnavailable(new Error(`the connection broke ${place}`)));
  }
}
