import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a client gets instead of the node's answer. In every case the node has done what it was asked. */
export type RpcFault =
  | { readonly kind: 'status'; readonly status: 429 | 502 | 503 }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }
  /** Another hash than the one that was sent. */
  | { readonly kind: 'wrong-hash' }
  /** Later, when this is over. */
  | { readonly kind: 'hold'; readonly until: Promise<void> };

interface Rule {
  readonly method: string;
  readonly fault: RpcFault;
  remaining: number;
}

const WRONG_HASH = `0x${'bad0'.repeat(16)}`;

/** A JSON-RPC endpoint between one node and the chain: it delivers every call, and then may do anything to the answer. */
export class RpcProxy {
  /** Calls by method, whatever came of them. */
  readonly calls = new Map<string, number>();
  /** Every transaction that was sent by way of this proxy, as it was sent, with the time of its arrival (`performance.now`). */
  readonly sent: { readonly raw: string; readonly at: number }[] = [];
  /** How often a fault was really done to an answer. */
  faults = 0;
  private readonly rules: Rule[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {
    server.on('request', (request, response) => {
      this.handle(request, response).catch(() => response.destroy());
    });
  }

  static async listen(target: string): Promise<RpcProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new RpcProxy(server, target);
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
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

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const parsed = JSON.parse(body) as RpcCall | RpcCall[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    for (const { method, params } of calls) {
      this.calls.set(method, this.count(method) + 1);
      if (method === 'eth_sendRawTransaction') this.sent.push({ raw: String(params?.[0]), at: performance.now() });
    }
    const rule = this.take(calls);
    const answer = await this.deliver(body);
    if (rule) this.faults += 1;
    await respond(response, answer, calls, rule?.fault);
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
  fault: RpcFault | undefined,
): Promise<void> {
  const json = (text: string): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
  switch (fault?.kind) {
    case undefined:
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
      json(withWrongHashes(answer, calls));
      return;
    case 'hold':
      await fault.until;
      json(answer);
      return;
  }
}

function withWrongHashes(answer: string, calls: readonly RpcCall[]): string {
  const sends = new Set(calls.filter(({ method }) => method === 'eth_sendRawTransaction').map(({ id }) => id));
  const parsed = JSON.parse(answer) as Record<string, unknown> | Record<string, unknown>[];
  const lie = (reply: Record<string, unknown>): Record<string, unknown> =>
    sends.has(reply['id']) && 'result' in reply ? { ...reply, result: WRONG_HASH } : reply;
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(lie) : lie(parsed));
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
