import { failed, isRecord, type RpcFailure, type RpcReply } from './json-rpc.js';

/** Longer texts of a node are cut. A revert reason or a page of a proxy may have megabytes. */
const MAX_MESSAGE_CHARS = 2_000;

/**
 * Finds the reply to each id, in any order of the answers. `body` is the parsed JSON of a response. A single answer to a single request
 * counts even without its id: nodes answer `id: null` when they could not parse the request.
 */
export function matchAnswers(ids: readonly number[], body: unknown): RpcReply[] {
  if (!Array.isArray(body)) {
    const reply = replyOf(body);
    if (ids.length === 1) return [reply];
    // One object for a whole batch is about the batch, and is not the result of each call.
    const message = reply.kind === 'error' ? reply.error.message : 'one answer for a whole batch';
    return ids.map(() => failed(malformed(message)));
  }
  const byId = new Map<string, RpcReply>();
  for (const answer of body) if (isRecord(answer)) byId.set(String(answer['id']), replyOf(answer));
  return ids.map((id) => byId.get(String(id)) ?? failed(missing()));
}

function replyOf(answer: unknown): RpcReply {
  if (!isRecord(answer)) return failed(malformed('the answer is not an object'));
  const error = answer['error'];
  if (error !== undefined && error !== null) return { kind: 'error', error: nodeError(error) };
  return 'result' in answer
    ? { kind: 'result', value: answer['result'] }
    : failed(malformed('neither result nor error'));
}

function nodeError(error: unknown): { code: number | undefined; message: string; data: unknown } {
  if (!isRecord(error))
    return {
      code: undefined,
      message: plain(typeof error === 'string' ? error : JSON.stringify(error)),
      data: undefined,
    };
  const { code, message, data } = error;
  return {
    code: typeof code === 'number' ? code : undefined,
    message: plain(typeof message === 'string' ? message : JSON.stringify(error)),
    data,
  };
}

/** Removes control characters: these texts are stored, and PostgreSQL refuses NUL. */
export function plain(text: string): string {
  return text
    .slice(0, MAX_MESSAGE_CHARS)
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim();
}

const malformed = (message: string): RpcFailure => ({ reason: 'malformed', mayHaveArrived: true, message });
const missing = (): RpcFailure => ({
  reason: 'missing',
  mayHaveArrived: true,
  message: 'missing response for request',
});
