import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError } from '../../domain/node-error-table.js';
import { BatchLimits, type BatchSize, type EncodedCall, SingleCalls } from './batch-limits.js';
import { AtMost } from '../../../../platform/scheduling/at-most.js';
import { BatchedAsk } from './batched-ask.js';
import { EndpointUrl } from './endpoint-url.js';
import { type HttpPost, UndiciPost } from './http-post.js';
import type { RpcReply, RpcRequest } from './json-rpc.js';
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

/** Of 16 connections: what is silent must leave some for the others. */
const BATCHES_AT_ONCE = 8;
/** Of 16 connections: estimates may take as long as a client's contract runs, and sends, receipts and heads do not wait for them. */
const ESTIMATES_AT_ONCE = 12;
const ESTIMATE = 'eth_estimateGas';
const CONTROL_TIMEOUT_MS = 2_000;

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const HEAD: RpcRequest = { method: 'eth_blockNumber', params: [] };
const CHAIN: RpcRequest = { method: 'eth_chainId', params: [] };
/**
 * What an endpoint is asked to find out whether it answers at all. Where silence about a call may end a payload, it is the same method: an
 * endpoint that estimates nothing at all says nothing about the payload.
 */
const CONTROLS: ReadonlyMap<string, RpcRequest> = new Map([
  [
    ESTIMATE,
    {
      method: ESTIMATE,
      params: [{ from: ZERO_ADDRESS, to: ZERO_ADDRESS, value: '0x0', data: '0x' }, 'latest'],
    },
  ],
]);
/** The endpoint, or the node behind it, did not work. */
const ABOUT_ENDPOINT: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'transient',
  'rate_limited',
  'ambiguous_internal',
]);

/**
 * One JSON-RPC 2.0 endpoint over HTTP. Every request gets a reply: a result, the node's raw error, or a failure that says whether the
 * request may have been delivered. Throws only for a bug of ours (a call inside a database transaction, I11).
 */
export class JsonRpcEndpoint implements RpcEndpoint {
  readonly label: string;
  private readonly http: HttpPost;
  private readonly roundTrip: JsonRpcRoundTrip;
  private readonly most: BatchSize;
  private readonly timeoutMs: number;
  private readonly estimates = new AtMost(ESTIMATES_AT_ONCE);
  /** By method. */
  private readonly limits = new Map<string, BatchLimits>();
  private readonly singles = new SingleCalls();
  private lastId = 0;
  /** The last answer to `eth_chainId`, which its pool compares with the config. */
  private chain: unknown;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(options: EndpointOptions, http?: HttpPost) {
    const url = EndpointUrl.parse(options.url, options.index);
    this.label = url.label;
    this.most = { calls: options.batchSize, bytes: options.batchBytes };
    this.timeoutMs = options.timeoutMs;
    this.http = http ?? new UndiciPost(url, options.timeoutMs);
    this.roundTrip = new JsonRpcRoundTrip(this.http, url);
  }

  /** Sends as few batches as the limits allow, several at once. */
  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const replies = await this.exchange(requests, BATCHES_AT_ONCE);
    if (requests[0]?.method === CHAIN.method && replies[0]?.kind === 'result') this.chain = replies[0].value;
    return replies;
  }

  /** Sends one batch after the other. When the endpoint stops answering it sends no more: each would wait for the same time-out. */
  async askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return this.exchange(requests, 1);
  }

  /** False after it refused several calls of the method at once, and single ones only were taken. */
  takesBatchesOf(method: string): boolean {
    return this.limitsOf(method).takesSeveral;
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

  private exchange(requests: readonly RpcRequest[], atOnce: number): Promise<RpcReply[]> {
    const calls = this.encoded(requests);
    const method = requests[0]?.method ?? '';
    const ask = new BatchedAsk({
      limits: this.limitsOf(method),
      send: (batch) =>
        method === ESTIMATE ? this.estimates.run(() => this.roundTrip.send(batch)) : this.roundTrip.send(batch),
      isAlive: () => this.isAlive(method),
      isSameChain: () => this.isSameChain(),
      atOnce,
    });
    return ask.execute(calls);
  }

  /** One size for each method: how many calls a node works off in time depends on what they cost. */
  private limitsOf(method: string): BatchLimits {
    const known = this.limits.get(method);
    if (known) return known;
    const limits = new BatchLimits(this.most, this.singles);
    this.limits.set(method, limits);
    return limits;
  }

  private async isSameChain(): Promise<boolean> {
    const [before, now] = [this.chain, await this.control(CHAIN)];
    return before !== undefined && now?.kind === 'result' && now.value === before;
  }

  private async control(request: RpcRequest): Promise<RpcReply | undefined> {
    const answer = await this.roundTrip.send(this.encoded([request]), Math.min(this.timeoutMs, CONTROL_TIMEOUT_MS));
    return answer.kind === 'answered' ? answer.replies[0] : undefined;
  }

  private async isAlive(method: string): Promise<boolean> {
    const control = CONTROLS.get(method) ?? HEAD;
    // What is asked of a control question is the control.
    if (method === HEAD.method || method === CHAIN.method) return false;
    const reply = await this.control(control);
    if (reply?.kind === 'result') return true;
    return (
      reply?.kind === 'error' && !ABOUT_ENDPOINT.has(classifyNodeError({ method: control.method, ...reply.error }))
    );
  }
}
