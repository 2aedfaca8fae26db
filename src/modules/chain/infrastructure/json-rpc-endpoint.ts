import { Pool } from 'undici';
import { inSlices } from '../../../kernel/in-slices.js';
import { assertOutsideTransaction } from '../../../platform/database/transaction-scope.js';
import { EndpointUrl } from './endpoint-url.js';
import { failed, type RpcReply, type RpcRequest } from './json-rpc.js';
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
}

/** Sockets to one endpoint; more requests wait for a free one. */
const CONNECTIONS = 16;
/** A block's receipts on a large chain are a few MB. Bytes. */
const LARGEST_RESPONSE = 128 * 1024 * 1024;

/**
 * One JSON-RPC 2.0 endpoint over HTTP. Every question gets a reply: a result, the node's raw error, or a failure that
 * says whether the request may have been delivered. Throws only for our own bug (a call inside a transaction, I11).
 */
export class JsonRpcEndpoint implements RpcEndpoint {
  readonly label: string;
  private readonly url: EndpointUrl;
  private readonly pool: Pool;
  private lastId = 0;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(private readonly options: EndpointOptions) {
    this.url = EndpointUrl.parse(options.url, options.index);
    this.label = this.url.label;
    this.pool = new Pool(this.url.origin, {
      connections: CONNECTIONS,
      connect: { timeout: options.timeoutMs },
      maxResponseSize: LARGEST_RESPONSE,
    });
  }

  /** Replies in the order asked, in as few round trips as the batch size allows, side by side. */
  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const replies = await Promise.all(this.chunks(requests).map((chunk) => this.roundTrip(chunk)));
    return replies.flat();
  }

  /**
   * One batch after the other, so that the node sees them in this order. After a batch that got no answer the rest is
   * not sent: it would wait for the same time-out again.
   */
  async askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const replies: RpcReply[] = [];
    let broken = false;
    for (const chunk of this.chunks(requests)) {
      const answers: readonly RpcReply[] = broken ? chunk.map(() => failed(NOT_SENT)) : await this.roundTrip(chunk);
      broken ||= answers.every(({ kind }) => kind === 'failed');
      replies.push(...answers);
    }
    return replies;
  }

  /** Drops open connections; requests in flight fail. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private chunks(requests: readonly RpcRequest[]): (readonly RpcRequest[])[] {
    return inSlices(requests, Math.max(1, this.options.batchSize));
  }

  private async roundTrip(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    assertOutsideTransaction(requests[0]?.method ?? 'an RPC call');
    const calls = requests.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++this.lastId, method, params }));
    const ids = calls.map(({ id }) => id);
    try {
      return (await this.post(ids, JSON.stringify(calls.length === 1 ? calls[0] : calls))).map((reply) =>
        this.clean(reply),
      );
    } catch (error) {
      const failure = transportFailure(error);
      return ids.map(() => this.clean(failed(failure)));
    }
  }

  private async post(ids: readonly number[], request: string): Promise<RpcReply[]> {
    const { statusCode, headers, body } = await this.pool.request({
      method: 'POST',
      path: this.url.path,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...this.url.headers },
      body: request,
      signal: AbortSignal.timeout(this.options.timeoutMs),
    });
    const text = await body.text();
    const json = parseJson(text);
    // A 4xx may carry a node's verdict; a 5xx or 429 was written by somebody who does not know what the node did.
    const isAnswer = statusCode < 300 || (statusCode >= 400 && statusCode < 500 && statusCode !== 429);
    if (isAnswer && json !== undefined) {
      const replies = matchAnswers(ids, json);
      if (statusCode < 300 || replies.some(({ kind }) => kind !== 'failed')) return replies;
    }
    const excerpt = plain(text.slice(0, 120));
    if (statusCode < 300)
      return ids.map(() => failed({ reason: 'malformed', mayHaveArrived: true, message: `not JSON: ${excerpt}` }));
    const retryAfter = headers['retry-after'];
    const failure = httpFailure(
      statusCode,
      Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      excerpt,
      Date.now(),
    );
    return ids.map(() => failed(failure));
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
