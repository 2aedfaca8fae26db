import { AsyncLocalStorage } from 'node:async_hooks';
import { InvariantViolation } from '../../kernel/errors.js';

const scope = new AsyncLocalStorage<true>();

/** Marks everything that `work` awaits as inside a database transaction. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  return scope.run(true, work);
}

/**
 * A network call inside a transaction would hold row locks for as long as the other side takes (docs/invariants.md, I11).
 * @throws InvariantViolation when called, directly or not, from inside a transaction
 */
export function assertOutsideTransaction(operation: string): void {
  if (scope.getStore()) throw new InvariantViolation(`${operation} was called inside a database transaction`);
}
