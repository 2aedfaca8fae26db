import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { normalErrorText } from './node-error-text.js';
import { ACCESS_ROWS, NODE_ROWS } from './node-errors/endpoint.js';
import { REVERTS } from './node-errors/execution.js';
import { GAS_ROWS, SIZE_ROWS } from './node-errors/gas-and-size.js';
import { IDENTITY_ROWS } from './node-errors/identity.js';
import { INVALID_ROWS } from './node-errors/invalid.js';
import { BLOB_ROWS, FEE_ROWS, FUNDS_ROWS, PRICE_ROWS } from './node-errors/money.js';
import { NONCE_ROWS } from './node-errors/nonce.js';
import { POOL_ROWS, REQUEST_ROWS } from './node-errors/request-and-pool.js';
import { searchOf, type NodeErrorFacts } from './node-errors/row.js';

export type { NodeErrorFacts } from './node-errors/row.js';

/** A pattern from the config of a chain. Case does not matter. */
export interface ErrorPattern {
  readonly pattern: RegExp;
  readonly class: NodeErrorClass;
}

const revertOf = searchOf(REVERTS);

/** The first row that matches wins, so a row whose texts contain the words of another row comes before it. */
const classOf = searchOf([
  ...REQUEST_ROWS,
  ...POOL_ROWS,
  ...FUNDS_ROWS,
  ...BLOB_ROWS,
  ...FEE_ROWS,
  ...NONCE_ROWS,
  ...PRICE_ROWS,
  ...GAS_ROWS,
  ...SIZE_ROWS,
  ...IDENTITY_ROWS,
  ...ACCESS_ROWS,
  ...INVALID_ROWS,
  ...NODE_ROWS,
]);

/**
 * Classifies the error of a node by its text. The patterns from the config come right after the revert rows. Without a match the class
 * is `unknown`, which means "maybe sent" and not "failed" (docs/invariants.md, I6).
 */
export function classifyNodeError(
  error: NodeErrorFacts & { readonly extraPatterns?: readonly ErrorPattern[] },
): NodeErrorClass {
  const text = normalErrorText(error.message);
  return (
    revertOf(error, text) ??
    error.extraPatterns?.find(({ pattern }) => pattern.test(error.message) || pattern.test(text))?.class ??
    classOf(error, text) ??
    'unknown'
  );
}

/** Compiles a pattern from the config, for any case. Without the flag `g`, so that it keeps no position between two tests. */
export function errorPattern(pattern: string, errorClass: NodeErrorClass): ErrorPattern {
  return { pattern: new RegExp(pattern, 'i'), class: errorClass };
}
