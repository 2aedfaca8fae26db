import { type ServerResponse } from 'node:http';
import { LocalServer } from './local-server.js';

interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a client gets instead of the node's answer. In every case but `refuse` the node has done what it was asked. */
export type RpcFault =
  | { readonly kind: 'status'; readonly status: 429 | 502 | 503 }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }
  /** Another hash than the one that was sent. */
  | { readonly kind: 'wrong-hash' }
  /** Later, when this is over. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** A JSON-RPC error for each call of the batch; the node never sees them. */
  | { readonly kind: 'refuse'; readonly code: number; readonly message: string }
  /** Another result than the node's. */
  | { readonly kind: 'rewrite'; readonly result: (result: unknown) => unknown };

interface Rule {
  readonly method: string;
  readonly fault: RpcFault;
  remaining: number;
}

const WRONG_HASH = `0x${'bad0'.repeat(16)}`;

/** A JSON-RPC endpoint between one node and the chain: it delivers every call, and then may do anything to the answer. */
export class RpcProxy extends LocalServer {
  /** Calls by method, whatever came of them. */
  readonly calls = new Map<string, number>();
  /** Every transaction that was sent by way of this proxy, as it was sent, with the time of its arrival (`performance.now`). */
  readonly sent: { readonly raw: string; readonly at: number }[] = [];
  /** How often a fault was really done to an answer. */
  faults = 0;
  private readonly rules: Rule[] = [];

  private constructor(private readonly target: string) {
    super();
  }

  static listen(target: string): Promise<RpcProxy> {
    return new RpcProxy(target).listening();
  }

  /** All calls of all methods. */
  get total(): number {
    return [...this.calls.values()].reduce((sum, calls) => sum + calls, 0);
  }

  /** The next `times` requests that hold a call of `method` are delivered, and answered with `fault`. */
  fail(method: string, fault: RpcFault, times = Number.POSITIVE_INFINITY): void {
    this.rules.push({ method, fault, remaining: times });
  }

  heal(): void {
    this.rules.length = 0;
  }

  count(method: string): number {
    return this.calls.get(method) ?? 0;
  }

  protected async handle(body: string, response: ServerResponse): Promise<void> {
    const parsed = JSON.parse(body) as RpcCall | RpcCall[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    for (const { method, params } of calls) {
      this.calls.set(method, this.count(method) + 1);
      if (method === 'eth_sendRawTransaction') this.sent.push({ raw: String(params?.[0]), at: performance.now() });
    }
    const rule = this.take(calls);
    const answer = rule?.fault.kind === 'refuse' ? refusals(calls, rule.fault) : await this.deliver(body);
    if (rule) this.faults += 1;
    await respond(response, answer, calls, rule);
  }

  private take(calls: readonly RpcCall[]): Rule | undefined {
    const rule = this.rules.find(
      ({ method, remaining }) => remaining > 0 && calls.some((call) => call.method === method),
    );
    if (rule) rule.remaining -= 1;
    return rule;
  }

  private async deliver(body: string): Promise<string> {
    const answer = await fetch(this.target, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return answer.text();
  }
}

async function respond(
  response: ServerResponse,
  answer: string,
  calls: readonly RpcCall[],
  rule: Rule | undefined,
): Promise<void> {
  const json = (text: string): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
  const fault = rule?.fault;
  switch (fault?.kind) {
    case undefined:
    case 'refuse':
      json(answer);
      return;
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<html>not now</html>');
      return;
    case 'silence':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'wrong-hash':
      json(rewritten(answer, calls, 'eth_sendRawTransaction', () => WRONG_HASH));
      return;
    case 'rewrite':
      json(rewritten(answer, calls, rule?.method, fault.result));
      return;
    case 'hold':
      await fault.until;
      json(answer);
      return;
  }
}

function rewritten(
  answer: string,
  calls: readonly RpcCall[],
  method: string | undefined,
  change: (result: unknown) => unknown,
): string {
  const asked = new Set(calls.filter((call) => call.method === method).map(({ id }) => id));
  const parsed = JSON.parse(answer) as Record<string, unknown> | Record<string, unknown>[];
  const lie = (reply: Record<string, unknown>): Record<string, unknown> =>
    asked.has(reply['id']) && 'result' in reply ? { ...reply, result: change(reply['result']) } : reply;
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(lie) : lie(parsed));
}

function refusals(calls: readonly RpcCall[], { code, message }: { code: number; message: string }): string {
  const errors = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }));
  return JSON.stringify(errors.length === 1 ? errors[0] : errors);
}
