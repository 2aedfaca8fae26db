import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import { BatchLimits, type EncodedCall } from './batch-limits.js';
import { type BatchRefusal, batchRefusal } from './batch-refusal.js';
import { EndpointUrl } from './endpoint-url.js';
import { type HttpPost, UndiciPost } from './http-post.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './json-rpc.js';
import { matchAnswers, plain } from './match-answers.js';
import type { RpcEndpoint } from './rpc-endpoint.js';
import { httpFailure, transportFailure } from './transport-failure.js';

export interface EndpointOptions {
  readonly url: string;
  /** Position in the config. */
  readonly index: number;
  /** For one HTTP round trip, from start to the last byte. Milliseconds. */
  readonly timeoutMs: number;
  /** Calls in one JSON-RPC batch. */
  readonly batchSize: number;
  /** Bytes in one JSON-RPC batch; a larger call goes by itself. */
  readonly batchBytes: number;
}

/**
 * One JSON-RPC 2.0 endpoint over HTTP. Every question gets a reply: a result, the node's raw error, or a failure that
 * says whether the request may have been delivered. Throws only for our own bug (a call inside a transaction, I11).
 */
export class JsonRpcEndpoint implements RpcEndpoint {
  readonly label: string;
  private readonly url: EndpointUrl;
  private readonly http: HttpPost;
  private readonly limits: BatchLimits;
  private lastId = 0;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(options: EndpointOptions, http?: HttpPost) {
    this.url = EndpointUrl.parse(options.url, options.index);
    this.label = this.url.label;
    this.limits = new BatchLimits({ calls: options.batchSize, bytes: options.batchBytes });
    this.http = http ?? new UndiciPost(this.url, options.timeoutMs);
  }

  /** In as few round trips as the limits allow, side by side. */
  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const slices = this.limits.slices(this.encoded(requests));
    const replies = await Promise.all(slices.map((slice) => this.askInHalves(slice)));
    return replies.flat();
  }

  /** One batch after the other. After a batch that got no answer the rest is not sent: it would wait for the same time-out again. */
  async askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return inTurn(this.limits.slices(this.encoded(requests)), (slice) => this.askInHalves(slice));
  }

  /** Drops open connections; requests in flight fail. */
  async close(): Promise<void> {
    await this.http.close();
  }

  private encoded(requests: readonly RpcRequest[]): EncodedCall[] {
    assertOutsideTransaction(requests[0]?.method ?? 'an RPC call');
    return requests.map(({ method, params }) => {
      const id = ++this.lastId;
      return { id, text: JSON.stringify({ jsonrpc: '2.0', id, method, params }) };
    });
  }

  /**
   * What is refused as a whole is halved until it is taken: then every call has an answer of its own. Nothing of it was taken, or it
   * is taken again: the calls are the same.
   */
  private async askInHalves(calls: readonly EncodedCall[]): Promise<RpcReply[]> {
    const answer = await this.roundTrip(calls);
    if (answer.kind === 'answered') {
      this.limits.accepted(calls);
      return answer.replies.map((reply) => this.clean(reply));
    }
    const { isForBytes, message } = answer.refusal;
    if (calls.length === 1) return [this.clean(tooLarge(message))];
    this.limits.refused(calls, isForBytes);
    const middle = Math.ceil(calls.length / 2);
    return inTurn([calls.slice(0, middle), calls.slice(middle)], (half) => this.askInHalves(half));
  }

  private async roundTrip(calls: readonly EncodedCall[]): Promise<Answer> {
    const texts = calls.map(({ text }) => text);
    try {
      return await this.post(
        calls.map(({ id }) => id),
        texts.length === 1 ? texts.join() : `[${texts.join(',')}]`,
      );
    } catch (error) {
      const failure = transportFailure(error);
      return answered(calls.map(() => failed(failure)));
    }
  }

  private async post(ids: readonly number[], request: string): Promise<Answer> {
    const { statusCode, retryAfter, text } = await this.http.post(request);
    const json = parseJson(text);
    const excerpt = plain(text.slice(0, 120));
    const refusal = batchRefusal(ids.length, { status: statusCode, json, excerpt });
    if (refusal !== null) return { kind: 'refused', refusal };
    // A 4xx may carry a node's verdict; a 5xx or 429 was written by somebody who does not know what the node did.
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

  /** Whatever text came from outside may quote our URL. */
  private clean(reply: RpcReply): RpcReply {
    switch (reply.kind) {
      case 'result':
        return reply;
      case 'error':
        return { kind: 'error', error: { ...reply.error, message: this.url.clean(reply.error.message) } };
      case 'failed':
        return failed({ ...reply.failure, message: this.url.clean(reply.failure.message) });
    }
  }
}

type Answer =
  | { readonly kind: 'answered'; readonly replies: readonly RpcReply[] }
  | { readonly kind: 'refused'; readonly refusal: BatchRefusal };

function answered(replies: readonly RpcReply[]): Answer {
  return { kind: 'answered', replies };
}

/** A verdict, and not a failure of the endpoint: it will refuse this one call whenever it is asked. */
function tooLarge(message: string): RpcReply {
  return { kind: 'error', error: { code: undefined, message: `oversized data: ${message}`, data: undefined } };
}

/** The parts one after the other; after one that got no answer the rest is not sent. */
async function inTurn(
  parts: readonly (readonly EncodedCall[])[],
  ask: (part: readonly EncodedCall[]) => Promise<readonly RpcReply[]>,
): Promise<RpcReply[]> {
  const replies: RpcReply[] = [];
  let broken = false;
  for (const part of parts) {
    const answers: readonly RpcReply[] = broken ? part.map(() => failed(NOT_SENT)) : await ask(part);
    broken ||= answers.every(({ kind }) => kind === 'failed');
    replies.push(...answers);
  }
  return replies;
}

const NOT_SENT = {
  reason: 'unreachable',
  mayHaveArrived: false,
  message: 'not sent: the batch before it got no answer',
} as const;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
