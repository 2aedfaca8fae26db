import type { RpcReply, RpcRequest } from './json-rpc.js';

/**
 * One way to a chain, as the pool sees it. Every question gets a reply: a result, the node's raw error, or a failure that says
 * whether the request may have been delivered.
 */
export interface RpcEndpoint {
  /** Safe to show: no path, no query, no credentials. */
  readonly label: string;
  /** Replies in the order asked; the requests may travel side by side. */
  ask(requests: readonly RpcRequest[]): Promise<RpcReply[]>;
  /** Replies in the order asked; the node sees the requests in this order, too. */
  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]>;
  /** Requests in flight fail. */
  close(): Promise<void>;
}
