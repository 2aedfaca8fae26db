import type { FastifyRequest } from 'fastify';
import { type Caller, DEFAULT_ACCOUNT, isUnlimited, outsideLimits } from '../../kernel/caller.js';
import { Forbidden } from '../../kernel/errors.js';
import { callerOf } from './scope.js';

export const OPERATORS_ONLY = 'Only callers of the account `default` without limits may do it.';

/**
 * Who sent a request about what all accounts share, or about all signers.
 * @throws Forbidden `operators_only`, `outside_limits`
 */
export function operatorOf(request: FastifyRequest): Caller {
  const caller = callerOf(request);
  if (caller.account !== DEFAULT_ACCOUNT) {
    throw new Forbidden(
      'operators_only',
      'only callers of the account default manage accounts and policies',
      'ask the operators of this deployment',
    );
  }
  if (!isUnlimited(caller)) throw outsideLimits('accounts and policies are');
  return caller;
}
