import { DomainError, Unavailable, messageOf } from '../../kernel/errors.js';

/** The database could not do it now: nothing was written, or, when the connection broke at commit, it is not known. */
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

/** A write on a server that takes none: a standby before, or the old primary after, a failover. */
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
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed/;

/** Unique and check violations keep their own shape; what may pass by itself becomes {@link DatabaseUnavailable}. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const code = sqlState(error);
  if (code !== null && TRANSIENT.some((prefix) => code.startsWith(prefix))) return new DatabaseUnavailable(error);
  if (BROKEN_CONNECTION.test(`${code ?? ''} ${messageOf(error)}`)) return new DatabaseUnavailable(error);
  return error;
}

/** The connection leads to a server that takes no writes; another one may lead elsewhere. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** For reads that go through TypeORM, and not through `Database`, which does it by itself. */
export async function translated<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/** SQLSTATE, or a node error code, of anything that was thrown. */
export function sqlState(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
