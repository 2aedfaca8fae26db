export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A JSON-RPC error object as the node wrote it. */
export interface NodeError {
  readonly code: number | undefined;
  readonly message: string;
  readonly data: unknown;
}

export type RpcFailureReason =
  /** The connection was refused or the host not found: the request was not delivered. */
  | 'unreachable'
  | 'timeout'
  /** Reset or closed after the request may have been delivered. */
  | 'connection'
  /** An HTTP status without a JSON-RPC answer (5xx, redirects, 4xx without JSON-RPC). */
  | 'http'
  | 'rate_limited'
  /** Not JSON-RPC, or the answer to another request. */
  | 'malformed'
  /** The answer to the batch has no item for this request. */
  | 'missing'
  /** No answer to this call alone, while the endpoint answers others: the fault of the call, and not of the endpoint. */
  | 'call_silent'
  /** The endpoint answers others, but it was not asked for this call alone any more. */
  | 'batch_silent';

/** No answer. The node may have executed the request if it may have arrived (docs/invariants.md, I6). */
export interface RpcFailure {
  readonly reason: RpcFailureReason;
  readonly mayHaveArrived: boolean;
  readonly message: string;
  /** How long the endpoint asked us to wait, milliseconds. */
  readonly retryAfterMs?: number;
}

export type RpcReply =
  /** `endpoint`: the label of the one that answered. */
  | { readonly kind: 'result'; readonly value: unknown; readonly endpoint?: string }
  /** `afterSilence`: sent before, without an answer, so it may have been executed then. */
  | { readonly kind: 'error'; readonly error: NodeError; readonly afterSilence?: true }
  | { readonly kind: 'failed'; readonly failure: RpcFailure };

export function failed(failure: RpcFailure): RpcReply {
  return { kind: 'failed', failure };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
