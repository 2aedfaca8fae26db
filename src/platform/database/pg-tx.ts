import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { InvariantViolation } from '../../kernel/errors.js';
import { Tx } from '../../kernel/unit-of-work.js';

/** A statement of the hot path. Named ones are prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type SqlValue = string | number | boolean | bigint | Date | null | readonly SqlValue[];

/** Runs SQL: an open transaction, or the pool for single statements. */
export interface SqlRunner {
  query<Row extends QueryResultRow>(statement: Statement, values: readonly SqlValue[]): Promise<QueryResult<Row>>;
}

/** An open transaction on one connection. */
export class PgTx extends Tx implements SqlRunner {
  private finished = false;
  private readonly hooks: (() => void)[] = [];

  constructor(private readonly client: PoolClient) {
    super();
  }

  /** The PostgreSQL transaction behind an opaque transaction handle. */
  static of(tx: Tx): PgTx {
    if (!(tx instanceof PgTx))
      throw new InvariantViolation('a transaction of another adapter reached the PostgreSQL repository');
    return tx;
  }

  get open(): boolean {
    return !this.finished;
  }

  async query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> {
    if (this.finished)
      throw new InvariantViolation('a statement was run on a finished transaction', { statement: statement.name });
    return this.client.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
  }

  /** Runs after the commit, and never when the transaction is rolled back. It must not throw. */
  afterCommit(hook: () => void): void {
    this.hooks.push(hook);
  }

  /** Only the unit of work calls this. */
  committed(): void {
    for (const hook of this.hooks) hook();
  }

  /** Only the unit of work calls this; afterwards a handle that was kept cannot run statements. */
  finish(): void {
    this.finished = true;
  }
}
