import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Log } from '../../../../platform/logging/log.js';
import type { Metrics } from '../../../../platform/metrics/metrics.js';
import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError, type ErrorPattern } from '../../domain/node-error-table.js';
import { RpcUnavailable } from '../../domain/rpc-unavailable.js';
import type { NodeError, RpcReply } from './json-rpc.js';
import { MalformedAnswer, type Untold } from '../parse-answer.js';
import type { RpcPool } from './rpc-pool.js';
import { isRateLimit } from './silence.js';

export type Params = readonly unknown[];

type Parse<T> = (value: unknown, untold: Untold) => T;

/** Reads from one chain and parses the answers. Its errors name chain and method, and never the URL. */
export class RpcReader {
  /** Endpoints and fields, each logged once. */
  private readonly logged = new Set<string>();

  constructor(
    readonly chainId: ChainId,
    private readonly pool: RpcPool,
    private readonly errorPatterns: readonly ErrorPattern[],
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** Raw replies, in the given order. */
  async replies(method: string, params: readonly Params[]): Promise<RpcReply[]> {
    return params.length === 0 ? [] : this.pool.read(params.map((item) => ({ method, params: item })));
  }

  /** @throws RpcUnavailable when any request has no usable answer */
  async all<T>(method: string, params: readonly Params[], parse: Parse<T>): Promise<T[]> {
    const replies = await this.replies(method, params);
    return params.map((_, i) => this.parsed(method, replies[i], parse));
  }

  /** @throws RpcUnavailable */
  async one<T>(method: string, params: Params, parse: Parse<T>): Promise<T> {
    const [reply] = await this.replies(method, [params]);
    return this.parsed(method, reply, parse);
  }

  /** @throws RpcUnavailable */
  parsed<T>(method: string, reply: RpcReply | undefined, parse: Parse<T>): T {
    if (reply?.kind !== 'result') throw this.unavailable(method, reasonOf(reply), reply && isRateLimit(reply));
    try {
      return parse(reply.value, this.untoldBy(reply));
    } catch (error) {
      if (error instanceof MalformedAnswer) throw this.malformed(method, toldBy(reply, error.message));
      throw error;
    }
  }

  /** Logs each field that an endpoint does not tell, once. */
  untoldBy(reply: RpcReply | undefined): Untold {
    return (field) => {
      const endpoint = (reply?.kind === 'result' ? reply.endpoint : undefined) ?? 'an endpoint';
      const key = `${endpoint} ${field}`;
      if (this.logged.has(key)) return;
      this.logged.add(key);
      this.log.info('rpc endpoint does not tell a field, it counts as not known', {
        chainId: this.chainId,
        endpoint,
        field,
      });
    };
  }

  /** Classifies and counts a node error. A text without a row in the table is logged completely, so that a row can be added. */
  classOf(method: string, error: NodeError): NodeErrorClass {
    const errorClass = classifyNodeError({ method, ...error, extraPatterns: this.errorPatterns });
    this.metrics.count('rpc_node_errors_total', 1, { chain: this.chainId, method, class: errorClass });
    if (errorClass === 'unknown') {
      const { code, message } = error;
      this.log.warn('node error has no known class', { chainId: this.chainId, method, code, error: message });
    }
    return errorClass;
  }

  unavailable(method: string, detail: string, isLimited = false): RpcUnavailable {
    const isWrongChain = this.pool.status().every(({ state }) => state === 'wrong_chain');
    const code = isWrongChain ? 'rpc_wrong_chain' : 'rpc_unavailable';
    return new RpcUnavailable(code, { chainId: this.chainId, method }, detail, isLimited);
  }

  malformed(method: string, detail: string): RpcUnavailable {
    return new RpcUnavailable('rpc_malformed_answer', { chainId: this.chainId, method }, detail);
  }
}

/** Why a reply has no result. */
export function reasonOf(reply: RpcReply | undefined): string {
  if (reply?.kind === 'error') return reply.error.message;
  return reply?.kind === 'failed' ? reply.failure.message : 'no answer';
}

/** Names the endpoint with what is wrong with its answer. */
export function toldBy({ endpoint }: RpcReply & { kind: 'result' }, message: string): string {
  return endpoint === undefined ? message : `${message} (${endpoint})`;
}
