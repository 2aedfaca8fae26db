import { describe, expect, it } from '@jest/globals';
import { InvalidInput, Unavailable } from '../../../src/kernel/errors.js';
import { isReadOnly, translated, translateDatabaseError } from '../../../src/platform/database/database-errors.js';

const failed = (code: string, message = 'the words of the server') => Object.assign(new Error(message), { code });

describe('an error of the database', () => {
  it.each([
    ['25006', 'a standby, before or after a failover'],
    ['57P01', 'a shutdown'],
    ['57P02', 'a crash of another session'],
    ['57P03', 'the database system is starting up'],
    ['57014', 'statement_timeout'],
    ['08000', 'a connection exception'],
    ['08003', 'a connection that does not exist'],
    ['08006', 'a broken connection'],
    ['53300', 'too many connections'],
    ['53100', 'a full disk'],
    ['40001', 'a serialization failure'],
    ['40P01', 'a deadlock'],
    ['55P03', 'lock_timeout'],
    ['25P03', 'idle_in_transaction_session_timeout'],
    ['ECONNREFUSED', 'nobody at the port'],
    ['ECONNRESET', 'a reset'],
    ['EHOSTUNREACH', 'no way to the host'],
    ['ENETUNREACH', 'no network'],
    ['EHOSTDOWN', 'a host that is down'],
    ['EAI_AGAIN', 'no answer of the name server'],
  ])('may pass by itself: %s, %s', (code) => {
    const translated = translateDatabaseError(failed(code));
    expect(translated).toBeInstanceOf(Unavailable);
    expect(translated).toMatchObject({ code: 'database_unavailable', retryable: true });
  });

  it.each([
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Client was closed and is not queryable',
  ])('without a code may pass by itself: %s', (message) => {
    expect(translateDatabaseError(new Error(message))).toBeInstanceOf(Unavailable);
  });

  it.each([
    ['23505', 'a unique violation'],
    ['23514', 'a check violation'],
    ['28P01', 'a wrong password'],
    ['3D000', 'no such database'],
    ['42601', 'a syntax error'],
    ['25001', 'another wrong state of the transaction'],
  ])('that will not pass by itself stays what it is: %s, %s', (code) => {
    const error = failed(code);
    expect(translateDatabaseError(error)).toBe(error);
  });

  it('that is one of our own already stays what it is, whatever its words', () => {
    const own = new InvalidInput('a_code', 'ECONNRESET is no name', 'choose another');
    expect(translateDatabaseError(own)).toBe(own);
  });

  it('is kept as the cause of what it becomes', () => {
    const error = failed('57014');
    expect(translateDatabaseError(error)).toMatchObject({ cause: error });
  });

  it('of a read that goes another way is the same', async () => {
    await expect(translated(Promise.reject(failed('57014')))).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await translated(Promise.resolve(7))).toBe(7);
  });

  it.each([
    ['25006', true],
    ['25001', false],
  ])('tells whether the server takes no writes: %s, %p', (code, expected) => {
    expect(isReadOnly(failed(code))).toBe(expected);
  });
});
