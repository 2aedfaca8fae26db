import { type ServerResponse } from 'node:http';
import { LocalServer } from './local-server.js';

interface RpcCall {
  readonly id?: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What stands in front of a node and is less than the node. */
export interface FrontRules {
  /** Blocks by which everything it knows is old. */
  lag?: number;
  /** Whether the next request is answered 429 and never reaches the node. */
  refuses?: () => boolean;
  /** The words by which the bytes of a transaction are refused; null: the node gets them. */
  refusesBytes?: (raw: string) => string | null;
}

/** Seconds; what a refused client is asked to wait. */
const RETRY_AFTER = '0.25';

/** A JSON-RPC endpoint whose node is fine, but which itself lags or limits its clients. */
export class RpcFront extends LocalServer {
  /** Calls by method that reached it, refused or not. */
  readonly calls = new Map<string, number>();
  requests = 0;
  refused = 0;

  private constructor(
    private readonly target: string,
    readonly rules: FrontRules,
  ) {
    super();
  }

  static listen(target: string, rules: FrontRules): Promise<RpcFront> {
    return new RpcFront(target, rules).listening();
  }

  protected async handle(text: string, response: ServerResponse): Promise<void> {
    const body = JSON.parse(text) as RpcCall | RpcCall[];
    this.requests += 1;
    for (const { method } of [body].flat()) this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    if (this.rules.refuses?.() === true) {
      this.refused += 1;
      response.writeHead(429, { 'retry-after': RETRY_AFTER }).end('slow down');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(await this.answer(body));
  }

  private async answer(body: RpcCall | RpcCall[]): Promise<string> {
    if ([body].flat().every((call) => this.refusalOf(call) === null)) return this.passOn(body);
    const answers = await Promise.all(
      [body].flat().map(async (call): Promise<unknown> => {
        const message = this.refusalOf(call);
        if (message !== null) return { jsonrpc: '2.0', id: call.id, error: { code: -32_000, message } };
        return JSON.parse(await this.passOn(call));
      }),
    );
    return JSON.stringify(Array.isArray(body) ? answers : answers[0]);
  }

  private refusalOf({ method, params = [] }: RpcCall): string | null {
    return method === 'eth_sendRawTransaction' ? (this.rules.refusesBytes?.(String(params[0])) ?? null) : null;
  }

  private async passOn(body: RpcCall | RpcCall[]): Promise<string> {
    const { lag } = this.rules;
    if (lag === undefined) return this.post(body);
    const { result } = JSON.parse(
      await this.post({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    ) as { result: string };
    const newest = `0x${(Number(result) - lag).toString(16)}`;
    const aged = (call: RpcCall): RpcCall => ({
      ...call,
      params: (call.params ?? []).map((param) => (param === 'latest' || param === 'pending' ? newest : param)),
    });
    if (!Array.isArray(body) && body.method === 'eth_blockNumber') return JSON.stringify({ ...body, result: newest });
    return this.post(Array.isArray(body) ? body.map(aged) : aged(body));
  }

  private async post(body: unknown): Promise<string> {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await fetch(this.target, init)).text();
  }
}
