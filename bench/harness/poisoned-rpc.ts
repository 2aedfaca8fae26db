import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What becomes of the estimates of one signer: no answer ever, or an error. */
export type Poison = 'hangs' | 'refuses';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A wire to the chain that spoils the estimates of one signer. A request with one that hangs has no answer at all. */
export class PoisonedRpc {
  private server: Server | null = null;

  constructor(
    private readonly signer: string,
    private readonly poison: Poison | null,
  ) {}

  /** @returns where to send instead */
  async listen(chainUrl: string): Promise<string> {
    const server = createServer((request, response) => {
      this.answer(chainUrl, request, response).catch((error: unknown) => {
        response.statusCode = 502;
        response.end(String(error));
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const { server } = this;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  private async answer(chainUrl: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const calls = [JSON.parse(body) as Call | readonly Call[]].flat();
    const poisoned = calls.filter((call) => this.isPoisoned(call));
    if (poisoned.length > 0 && this.poison === 'hangs') return;
    const others = calls.filter((call) => !poisoned.includes(call));
    const answers = poisoned.map(({ id }): unknown => ({ jsonrpc: '2.0', id, error: REFUSAL }));
    if (others.length > 0) answers.push(...(await ask(chainUrl, others)));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body.startsWith('[') ? answers : answers[0]));
  }

  private isPoisoned({ method, params: [call] }: Call): boolean {
    return (
      this.poison !== null && method === 'eth_estimateGas' && (call as { readonly from: string }).from === this.signer
    );
  }
}

const REFUSAL = { code: -32000, message: 'not allowed by the policy of this node' };

async function ask(chainUrl: string, calls: readonly Call[]): Promise<unknown[]> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(chainUrl, { method: 'POST', headers, body: JSON.stringify(calls) });
  return (await answer.json()) as unknown[];
}
