import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError } from '../../domain/node-error-table.js';
import { isRecord } from './json-rpc.js';
import { matchAnswers } from './match-answers.js';

/** The endpoint refused a whole batch; it may accept a smaller one. */
export interface BatchRefusal {
  readonly isForBytes: boolean;
  readonly message: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
  /** The start of the body. */
  readonly excerpt: string;
}

const HTTP_PAYLOAD_TOO_LARGE = 413;
/** JSON-RPC 2.0: invalid request. geth answers it to the first call of a batch with too many calls. */
const INVALID_REQUEST = -32_600;
const ABOUT_BATCHES = /batch/i;
const ABOUT_SIZE = /too (large|big|many|long)|more than|exceed|limit|maximum|at most/i;
const ABOUT_TIME = /tim(e|ed)[ -]?out|deadline|took too long|cancel/i;
const ABOUT_BYTES = /(request|payload|body|entity|content)( [a-z]+){0,2} (too large|too big|exceed)/i;
/** A smaller batch would get the same error. */
const NOT_ABOUT_THE_BATCH: ReadonlySet<NodeErrorClass> = new Set(['rate_limited', 'transient', 'ambiguous_internal']);
const REFUSING_STATUS: ReadonlySet<number> = new Set([401, 403, 429]);

/** The refusal of a batch of so many calls as a whole; null when the endpoint did not refuse it. */
export function batchRefusal(calls: number, { status, json, excerpt }: HttpAnswer): BatchRefusal | null {
  if (status === HTTP_PAYLOAD_TOO_LARGE) return { isForBytes: true, message: `HTTP 413: ${excerpt}` };
  if (calls === 1 || REFUSING_STATUS.has(status)) return null;
  // After a time-out, or a 5xx that does not mention a size, the calls may have been executed: halving would forget that they were sent.
  if (ABOUT_TIME.test(excerpt) || (status >= 500 && !ABOUT_SIZE.test(excerpt))) return null;
  const error = errorForAll(json);
  const message = error?.message ?? (status < 300 ? '' : excerpt);
  if (ABOUT_TIME.test(message)) return null;
  if (ABOUT_BYTES.test(message)) return { isForBytes: true, message };
  if (ABOUT_BATCHES.test(message)) return { isForBytes: false, message };
  if (error === null || NOT_ABOUT_THE_BATCH.has(classifyNodeError({ method: '', ...error }))) return null;
  return { isForBytes: false, message };
}

/** One error object for a whole batch, or a list with a single error that is about the batch. */
function errorForAll(json: unknown): { readonly code: number | undefined; readonly message: string } | null {
  const sole: unknown = Array.isArray(json) && json.length === 1 ? json[0] : json;
  if (!isRecord(sole)) return null;
  const [reply] = matchAnswers([0], sole);
  if (reply?.kind !== 'error') return null;
  const isForAll =
    !Array.isArray(json) || reply.error.code === INVALID_REQUEST || ABOUT_BATCHES.test(reply.error.message);
  return isForAll ? reply.error : null;
}
