import { DtoRules } from '../../../../platform/http/dto-rules.js';
import { InvalidRequest } from '../../../../platform/http/invalid-request.js';
import { MAX_MISTAKES, Mistakes } from '../../../../platform/http/mistakes.js';
import { MAX_BATCH_ITEMS, TxBatchDto } from './tx-batch.dto.js';
import { DomainError, InvalidInput } from '../../../../kernel/errors.js';
import { domainProblem } from '../../../../platform/http/domain-problem.js';
import { INTERNAL_PROBLEM } from '../../../../platform/http/http-error-problem.js';
import { type Problem, problemDetails, type ProblemDetails } from '../../../../platform/http/problem-details.js';
import type { CreatedTx } from '../../application/create-tx.js';
import type { AcceptedTxDto } from './tx-responses.js';
import { acceptedStatus, acceptedView } from './accepted-tx.js';

/**
 * Returns the items of a batch, not yet parsed.
 * @throws InvalidInput when the batch itself is wrong, with any items
 */
export function itemsOf(body: unknown): readonly unknown[] {
  const count = countOf(body);
  if (count === 0) throw new InvalidInput('empty_batch', 'the batch has no items', 'send at least one item');
  if (count !== null && count > MAX_BATCH_ITEMS) {
    throw new InvalidInput(
      'batch_too_large',
      `the batch has ${count} items; the limit is ${MAX_BATCH_ITEMS}; nothing was stored`,
      `send at most ${MAX_BATCH_ITEMS} items per batch`,
      { items: count, maxItems: MAX_BATCH_ITEMS },
    );
  }
  const mistakes = new Mistakes();
  // Does not use the pipe, which also checks the items: one item that is nested too deeply would fail all others.
  const batch = DtoRules.of(TxBatchDto).read(body ?? {}, mistakes);
  if (!(batch instanceof TxBatchDto)) throw new InvalidRequest(mistakes.told);
  return batch.items;
}

/** Null when there is no list of items. */
function countOf(body: unknown): number | null {
  const items: unknown = typeof body === 'object' && body !== null && 'items' in body ? body.items : null;
  return Array.isArray(items) ? items.length : null;
}

/** A batch tells as many mistakes of all its items together as one request. */
export class BatchMistakes {
  private left = MAX_MISTAKES;
  private last: Mistakes | null = null;

  /** For the next item, once all mistakes of the item before are found. */
  ofNext(): Mistakes {
    this.left -= this.last?.told.length ?? 0;
    this.last = new Mistakes(this.left);
    return this.last;
  }
}

export const BATCH_PATH = '/api/v1/tx/batch';

/** The result of one step for one item. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export type TxBatchItemView =
  | { readonly index: number; readonly status: number; readonly tx: AcceptedTxDto }
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
