import type { RpcReply, RpcRequest } from './json-rpc.js';

/**
 * One RPC endpoint, as the pool uses it. Every request gets a reply: a result, the raw error of the node, or a failure that says whether
 * the request may have been delivered.
 */
export interface RpcEndpoint {
  /** Safe to show: no path, no query, no credentials. */
  readonly label: string;
  /** Replies in the given order; the requests may be sent concurrently. */
  ask(requests: readonly RpcRequest[]): Promise<RpcReply[]>;
  /** Replies in the given order; the node receives the requests in this order, too. */
  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]>;
  /** Requests in flight fail. */
  close(): Promise<void>;
}
