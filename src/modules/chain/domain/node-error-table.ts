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

/** A chain's own wording, from its config. Case does not matter. */
export interface ErrorPattern {
  readonly pattern: RegExp;
  readonly class: NodeErrorClass;
}

const revertOf = searchOf(REVERTS);

/** In order: the first row that matches wins, so what quotes or contains another row's words stands above it. */
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
 * The class of a node's error, by its text. A chain's own patterns come right after the revert test; no match is
 * `unknown`, which is not a failure but "maybe sent" (I6).
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

/** A pattern from config: any case. Without `g`, so that it keeps no position between two tests. */
export function errorPattern(pattern: string, errorClass: NodeErrorClass): ErrorPattern {
  return { pattern: new RegExp(pattern, 'i'), class: errorClass };
}
