import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError } from '../../domain/node-error-table.js';
import { isRecord } from './json-rpc.js';
import { matchAnswers } from './match-answers.js';

/** A request was refused as a whole; less of it may be taken. */
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

const PAYLOAD_TOO_LARGE = 413;
/** JSON-RPC 2.0: not a valid request. What geth answers to the first call of a batch with too many. */
const INVALID_REQUEST = -32_600;
const ABOUT_BATCHES = /batch/i;
const ABOUT_SIZE = /too (large|big|many|long)|more than|exceed|limit|maximum|at most/i;
const ABOUT_TIME = /tim(e|ed)[ -]?out|deadline|took too long|cancel/i;
const ABOUT_BYTES = /(request|payload|body|entity|content)( [a-z]+){0,2} (too large|too big|exceed)/i;
/** Less of the same would fare no better. */
const OF_THE_ENDPOINT: ReadonlySet<NodeErrorClass> = new Set(['rate_limited', 'transient', 'ambiguous_internal']);
const NOT_ALLOWED: ReadonlySet<number> = new Set([401, 403, 429]);

/** Whether the endpoint refused a request of so many calls without looking at each of them; null when it did not. */
export function batchRefusal(calls: number, { status, json, excerpt }: HttpAnswer): BatchRefusal | null {
  if (status === PAYLOAD_TOO_LARGE) return { isForBytes: true, message: `HTTP 413: ${excerpt}` };
  if (calls === 1 || NOT_ALLOWED.has(status)) return null;
  // Whoever speaks of time, or with a 5xx and not of a size, does not know what became of the calls: to halve them would forget that they were sent.
  if (ABOUT_TIME.test(excerpt) || (status >= 500 && !ABOUT_SIZE.test(excerpt))) return null;
  const error = errorForAll(json);
  const message = error?.message ?? (status < 300 ? '' : excerpt);
  if (ABOUT_TIME.test(message)) return null;
  if (ABOUT_BYTES.test(message)) return { isForBytes: true, message };
  if (ABOUT_BATCHES.test(message)) return { isForBytes: false, message };
  if (error === null || OF_THE_ENDPOINT.has(classifyNodeError({ method: '', ...error }))) return null;
  return { isForBytes: false, message };
}

/** One error object for a whole batch, or a list with nothing but one that calls the request invalid. */
function errorForAll(json: unknown): { readonly code: number | undefined; readonly message: string } | null {
  const sole: unknown = Array.isArray(json) && json.length === 1 ? json[0] : json;
  if (!isRecord(sole)) return null;
  const [reply] = matchAnswers([0], sole);
  if (reply?.kind !== 'error') return null;
  const isForAll =
    !Array.isArray(json) || reply.error.code === INVALID_REQUEST || ABOUT_BATCHES.test(reply.error.message);
  return isForAll ? reply.error : null;
}
