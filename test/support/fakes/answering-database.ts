import type { QueryResult, QueryResultRow } from 'pg';
import { Database } from '../../../src/platform/database/database.js';
import { PgTx, type SqlRunner, type SqlValue, type Statement } from '../../../src/platform/database/pg-tx.js';
import { fakeOf } from './fake-of.js';

/** A database that answers each statement, alone or in a transaction, with these rows. */
export function answeringDatabase(
  rowsFor: (statement: Statement, values: readonly SqlValue[]) => Promise<readonly QueryResultRow[]>,
): Database {
  const query: SqlRunner['query'] = async <Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> => {
    const rows = (await rowsFor(statement, values)) as Row[];
    return { rows, rowCount: rows.length, command: statement.name, oid: 0, fields: [] };
  };
  return fakeOf(Database, { query, transaction: (work) => work(fakeOf(PgTx, { query })) });
}
