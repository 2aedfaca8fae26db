import type { NodeErrorClass } from '../../../kernel/node-error-class.js';

/**
 * Whether a node refused a transaction because its gas limit is too low, and not for what it does. zkSync Era says so among its many reasons why
 * an account does not validate a transaction.
 */
export function isTooLittleGas(errorClass: NodeErrorClass | null, message: string | null): boolean {
  if (errorClass === 'intrinsic_gas_too_low') return true;
  return errorClass === 'invalid_transaction' && /\bnot enough gas\b/i.test(message ?? '');
}
