import { DomainError } from '../../../../kernel/errors.js';
import { domainProblem } from '../../../../platform/http/domain-problem.js';
import { INTERNAL_PROBLEM } from '../../../../platform/http/http-error-problem.js';
import { type Problem, problemDetails, type ProblemDetails } from '../../../../platform/http/problem-details.js';
import type { CreatedTx } from '../../application/intake/create-tx.js';
import type { AcceptedTxView } from '../../application/queries/tx-views.js';
import { acceptedStatus, acceptedView } from './accepted-tx.js';

export const BATCH_PATH = '/api/v1/tx/batch';

/** The result of one step for one item. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export type TxBatchItemView =
  | { readonly index: number; readonly status: number; readonly tx: AcceptedTxView }
  | { readonly index: number; readonly status: number; readonly problem: ProblemDetails };

export async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work };
  } catch (error) {
    return { error };
  }
}

/** The answer that POST /tx would have given for the item. */
export function itemView(outcome: Outcome<CreatedTx>, index: number): TxBatchItemView {
  if ('error' in outcome) return refusedItem(index, itemProblem(outcome.error));
  return { index, status: acceptedStatus(outcome.value), tx: acceptedView(outcome.value) };
}

/** The `instance` of an item's problem points to the item. */
export function refusedItem(index: number, problem: Problem): Extract<TxBatchItemView, { problem: unknown }> {
  return { index, status: problem.status, problem: problemDetails(problem, `${BATCH_PATH}#/items/${index}`) };
}

export function itemProblem(error: unknown): Problem {
  return error instanceof DomainError ? domainProblem(error) : INTERNAL_PROBLEM;
}
