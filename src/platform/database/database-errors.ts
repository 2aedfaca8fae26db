import { DomainError, Unavailable, messageOf } from '../../kernel/errors.js';

/** The database failed for now. Nothing was written, except perhaps when the connection broke at COMMIT. */
export class DatabaseUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super(
      'database_unavailable',
      'the database did not answer in time or gave up the statement',
      'try again; the same requestId is safe to repeat',
      {},
      { cause },
    );
  }
}

/** A write on a read-only server: a standby before a failover, or the old primary after it. */
const READ_ONLY = '25006';

/** SQLSTATE classes and codes after which the same work may succeed (PostgreSQL manual, appendix A). */
const TRANSIENT = [
  '08', // connection exception
  READ_ONLY,
  '40', // transaction rollback: serialization failure, deadlock
  '53', // insufficient resources
  '55P03', // lock_timeout
  '57', // operator intervention: statement_timeout, shutdown, idle timeouts
  '25P03', // idle_in_transaction_session_timeout
];
const BROKEN_CONNECTION =
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed/;

/** Turns temporary errors into {@link DatabaseUnavailable}; unique and check violations stay as they are. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const code = sqlState(error);
  if (code !== null && TRANSIENT.some((prefix) => code.startsWith(prefix))) return new DatabaseUnavailable(error);
  if (BROKEN_CONNECTION.test(`${code ?? ''} ${messageOf(error)}`)) return new DatabaseUnavailable(error);
  return error;
}

/** The connection leads to a read-only server; a new connection may lead to another server. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** Translates errors of reads through TypeORM; `Database` translates its own. */
export async function translated<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/** The SQLSTATE, or the Node error code, of a thrown value. */
export function sqlState(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
