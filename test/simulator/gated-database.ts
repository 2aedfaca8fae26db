import type { QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseUnavailable } from '../../src/platform/database/database-errors.js';
import type { PgTx, SqlValue, Statement } from '../../src/platform/database/pg-tx.js';
import type { Gate } from './gate.js';

/** The real database, with the node's gate before and after every statement, and around every commit. */
export class GatedDatabase extends Database {
  constructor(
    source: DataSource,
    private readonly gate: Gate,
  ) {
    super(source);
  }

  /** The nodes share their connections, and nobody can say whose was made when. */
  override get connects(): number {
    return 0;
  }

  override async query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> {
    await this.pass(`before ${statement.name}`, false);
    const result = await this.gate.during(() => super.query<Row>(statement, values));
    await this.pass(`after ${statement.name}`, false);
    return result;
  }

  override async transaction<T>(work: (tx: PgTx) => Promise<T>): Promise<T> {
    await this.pass('before BEGIN', false);
    const result = await this.gate.during(() =>
      super.transaction((tx) => {
        this.watch(tx);
        return work(tx);
      }),
    );
    // Here a failure is a commit whose answer was lost.
    await this.pass('after COMMIT', false);
    return result;
  }

  private watch(tx: PgTx): void {
    const query = tx.query.bind(tx);
    tx.query = async <Row extends QueryResultRow>(
      statement: Statement,
      values: readonly SqlValue[],
    ): Promise<QueryResult<Row>> => {
      const answer = await query<Row>(statement, values);
      await this.pass(`after ${statement.name} in its transaction`, true);
      return answer;
    };
  }

  private pass(place: string, locked: boolean): Promise<void> {
    return this.gate.pass(place, locked, () => new DatabaseUnavailable(new Error(`the connection broke ${place}`)));
  }
}
