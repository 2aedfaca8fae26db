import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { Unavailable } from '../../kernel/errors.js';
import { type Tx, UnitOfWork } from '../../kernel/unit-of-work.js';
import { PgTx, type SqlRunner, type SqlValue, type Statement } from './pg-tx.js';
import { isReadOnly, translateDatabaseError } from './database-errors.js';
import { insideTransaction } from './transaction-scope.js';

/** The part of `pg.Pool` that we use; TypeORM owns the pool, so that there is only one. */
interface Pool {
  connect(): Promise<PoolClient>;
  on(event: 'connect', listener: () => void): unknown;
  query<Row extends QueryResultRow>(config: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<QueryResult<Row>>;
}

/** PostgreSQL answers COMMIT of an aborted transaction with "ROLLBACK" and without an error: nothing was written. */
export class CommitFailed extends Unavailable {
  constructor() {
    super('commit_failed', 'the database rolled the transaction back at commit', 'try again');
  }
}

/** Single statements and transactions on TypeORM's connection pool. */
export class Database extends UnitOfWork implements SqlRunner {
  private readonly pool: Pool;
  private made = 0;

  constructor(readonly dataSource: DataSource) {
    super();
    this.pool = poolOf(dataSource);
    this.pool.on('connect', () => (this.made += 1));
  }

  /** Number of connections made. A new connection may lead to another server than the last one. */
  get connects(): number {
    return this.made;
  }

  /** One statement, committed by itself. */
  async query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> {
    try {
      return await this.pool.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }

  async run<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  /** READ COMMITTED: the fence needs PostgreSQL to read a row again after it waited for its lock (docs/decisions/0002-fence.md). */
  async transaction<T>(work: (tx: PgTx) => Promise<T>): Promise<T> {
    const client = await this.connect();
    const tx = new PgTx(client);
    let broken: Error | undefined;
    // A connection that dies between two statements emits an event, which ends the process when it has no listener.
    const onError = (error: Error): void => void (broken = error);
    client.on('error', onError);
    try {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const result = await insideTransaction(() => work(tx));
      // Finish before COMMIT is sent: a statement after it would run alone, without the fence, and would be committed.
      tx.finish();
      const committed = await client.query('COMMIT');
      if (committed.command !== 'COMMIT') throw new CommitFailed();
      tx.committed();
      return result;
    } catch (error) {
      tx.finish();
      await client.query('ROLLBACK').catch((failure: unknown) => {
        // Releasing the broken connection with the error makes the pool close it.
        broken = failure instanceof Error ? failure : new Error(String(failure));
      });
      // After a failover the host name leads to another server: the pool replaces this connection by a new one.
      if (isReadOnly(error)) broken = new Error('the server is read-only');
      throw translateDatabaseError(error);
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.pool.connect();
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }
}

function poolOf(dataSource: DataSource): Pool {
  const { driver } = dataSource;
  if (!('master' in driver)) throw new TypeError('the data source is not a connected PostgreSQL data source');
  return driver.master as Pool;
}
