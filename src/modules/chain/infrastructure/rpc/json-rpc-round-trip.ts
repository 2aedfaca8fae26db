import type { EncodedCall } from './batch-limits.js';
import { type BatchRefusal, batchRefusal } from './batch-refusal.js';
import type { EndpointUrl } from './endpoint-url.js';
import type { HttpPost } from './http-post.js';
import { failed, type RpcFailure, type RpcReply } from './json-rpc.js';
import { matchAnswers, plain } from './match-answers.js';
import { httpFailure, transportFailure } from './transport-failure.js';

/** What came back for one batch: a reply to each call, or a refusal of the whole batch. */
export type BatchAnswer =
  | { readonly kind: 'answered'; readonly replies: readonly RpcReply[] }
  | { readonly kind: 'refused'; readonly refusal: BatchRefusal };

/** One HTTP request with one batch, and the meaning of its response. The texts in the answer do not contain secrets of the URL. */
export class JsonRpcRoundTrip {
  constructor(
    private readonly http: HttpPost,
    private readonly url: EndpointUrl,
  ) {}

  /** @param timeoutMs shorter than usual */
  async send(calls: readonly EncodedCall[], timeoutMs?: number): Promise<BatchAnswer> {
    const answer = await this.request(calls, timeoutMs);
    if (answer.kind === 'answered')
      return { kind: 'answered', replies: answer.replies.map((reply) => this.clean(reply)) };
    const { refusal } = answer;
    return { kind: 'refused', refusal: { ...refusal, message: this.url.clean(refusal.message) } };
  }

  private async request(calls: readonly EncodedCall[], timeoutMs?: number): Promise<BatchAnswer> {
    const texts = calls.map(({ text }) => text);
    try {
      return await this.post(
        calls.map(({ id }) => id),
        texts.length === 1 ? texts.join() : `[${texts.join(',')}]`,
        timeoutMs,
      );
    } catch (error) {
      const failure = transportFailure(error);
      return answered(calls.map(() => failed(failure)));
    }
  }

  private async post(ids: readonly number[], request: string, timeoutMs?: number): Promise<BatchAnswer> {
    const { statusCode, retryAfter, text } = await this.http.post(request, timeoutMs);
    const json = parseJson(text);
    const excerpt = plain(text.slice(0, 120));
    const refusal = batchRefusal(ids.length, { status: statusCode, json, excerpt });
    if (refusal !== null) return { kind: 'refused', refusal };
    // A node may send its error with a 4xx; a proxy that does not know what the node did wrote the 5xx or 429.
    const isAnswer = statusCode < 300 || (statusCode >= 400 && statusCode < 500 && statusCode !== 429);
    if (isAnswer && json !== undefined) {
      const replies = matchAnswers(ids, json);
      if (statusCode < 300 || replies.some(({ kind }) => kind !== 'failed')) return answered(replies);
    }
    const failure: RpcFailure =
      statusCode < 300
        ? { reason: 'malformed', mayHaveArrived: true, message: `not JSON: ${excerpt}` }
        : httpFailure(statusCode, retryAfter, excerpt, Date.now());
    return answered(ids.map(() => failed(failure)));
  }

  /** Any text from outside may quote our URL. */
  private clean(reply: RpcReply): RpcReply {
    switch (reply.kind) {
      case 'result':
        return reply;
      case 'error':
        return { ...reply, error: { ...reply.error, message: this.url.clean(reply.error.message) } };
      case 'failed':
        return failed({ ...reply.failure, message: this.url.clean(reply.failure.message) });
    }
  }
}

function answered(replies: readonly RpcReply[]): BatchAnswer {
  return { kind: 'answered', replies };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
