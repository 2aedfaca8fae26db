import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import { BatchLimits, type EncodedCall } from './batch-limits.js';
import { EndpointUrl } from './endpoint-url.js';
import { type HttpPost, UndiciPost } from './http-post.js';
import { failed, type RpcReply, type RpcRequest } from './json-rpc.js';
import { JsonRpcRoundTrip } from './json-rpc-round-trip.js';
import type { RpcEndpoint } from './rpc-endpoint.js';

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
 * One JSON-RPC 2.0 endpoint over HTTP. Every request gets a reply: a result, the node's raw error, or a failure that says whether the
 * request may have been delivered. Throws only for a bug of ours (a call inside a database transaction, I11).
 */
export class JsonRpcEndpoint implements RpcEndpoint {
  readonly label: string;
  private readonly http: HttpPost;
  private readonly roundTrip: JsonRpcRoundTrip;
  private readonly limits: BatchLimits;
  private lastId = 0;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(options: EndpointOptions, http?: HttpPost) {
    const url = EndpointUrl.parse(options.url, options.index);
    this.label = url.label;
    this.limits = new BatchLimits({ calls: options.batchSize, bytes: options.batchBytes });
    this.http = http ?? new UndiciPost(url, options.timeoutMs);
    this.roundTrip = new JsonRpcRoundTrip(this.http, url);
  }

  /** Sends as few batches as the limits allow, concurrently. */
  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const slices = this.limits.slices(this.encoded(requests));
    const replies = await Promise.all(slices.map((slice) => this.sendHalving(slice)));
    return replies.flat();
  }

  /** Sends one batch after the other. After a batch without an answer it sends no more: each would wait for the same time-out. */
  async askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return inTurn(this.limits.slices(this.encoded(requests)), (slice) => this.sendHalving(slice));
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
   * Halves a refused batch until the endpoint accepts it, so that every call gets a reply of its own. The endpoint either processed
   * nothing of the refused batch, or processes the same calls twice.
   */
  private async sendHalving(calls: readonly EncodedCall[]): Promise<readonly RpcReply[]> {
    const answer = await this.roundTrip.send(calls);
    if (answer.kind === 'answered') {
      this.limits.accepted(calls);
      return answer.replies;
    }
    const { isForBytes, message } = answer.refusal;
    if (calls.length === 1) return [tooLarge(message)];
    this.limits.refused(calls, isForBytes);
    const middle = Math.ceil(calls.length / 2);
    return inTurn([calls.slice(0, middle), calls.slice(middle)], (half) => this.sendHalving(half));
  }
}

/** An error of this call, not a failure of the endpoint: the endpoint will always refuse this call. */
function tooLarge(message: string): RpcReply {
  return { kind: 'error', error: { code: undefined, message: `oversized data: ${message}`, data: undefined } };
}

/** Sends the parts one after the other; after a part without an answer it does not send the rest. */
async function inTurn(
  parts: readonly (readonly EncodedCall[])[],
  send: (part: readonly EncodedCall[]) => Promise<readonly RpcReply[]>,
): Promise<RpcReply[]> {
  const replies: RpcReply[] = [];
  let broken = false;
  for (const part of parts) {
    const answers: readonly RpcReply[] = broken ? part.map(() => failed(NOT_SENT)) : await send(part);
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
