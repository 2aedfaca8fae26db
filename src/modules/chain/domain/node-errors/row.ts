import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { words } from '../node-error-text.js';

/** The raw error of a node. `code` is the JSON-RPC error code, or an HTTP status. */
export interface NodeErrorFacts {
  readonly method: string;
  readonly message: string;
  readonly code?: number | undefined;
}

export interface Row {
  readonly class: NodeErrorClass;
  /** Matched against the normal text (see node-error-text). A string is a phrase of {@link words}. */
  readonly any: readonly (string | RegExp)[];
  /** When given, only answers to these methods; never the only criterion. */
  readonly methods?: readonly string[];
  /** When given, only with these codes; never the only criterion: the same code means different things per client. */
  readonly codes?: readonly number[];
}

/** Methods that execute a payload without sending it. */
export const SIMULATIONS: readonly string[] = ['eth_estimateGas', 'eth_call'];

/** The class of the first row that matches. */
export type RowSearch = (error: NodeErrorFacts, text: string) => NodeErrorClass | undefined;

export function searchOf(rows: readonly Row[]): RowSearch {
  const compiled = rows.map((row) => ({
    ...row,
    any: row.any.map((pattern) => (typeof pattern === 'string' ? words(pattern) : pattern)),
  }));
  return ({ method, code }, text) =>
    compiled.find(
      (row) =>
        (row.methods?.includes(method) ?? true) &&
        (row.codes === undefined || (code !== undefined && row.codes.includes(code))) &&
        row.any.some((pattern) => pattern.test(text)),
    )?.class;
}
