import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a fake node says to one call. */
export type FakeAnswer =
  | { result: unknown }
  | { error: { code?: number; message: string; data?: unknown } }
  | 'nothing';

export interface Exchange {
  readonly calls: readonly RpcCall[];
  readonly isBatch: boolean;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** An HTTP server that answers JSON-RPC as a test wants it: per call, or by taking the whole exchange over. */
export class FakeRpcServer {
  readonly seen: RpcCall[] = [];
  readonly bodies: string[] = [];
  readonly paths: string[] = [];
  readonly authorizations: (string | undefined)[] = [];
  chainId = 1337;
  head = 100;
  /** Accepts connections and answers nothing at all. */
  hung = false;
  answer: (call: RpcCall) => FakeAnswer = () => ({ result: null });
  /** Return true when the exchange was dealt with. */
  takeOver: (exchange: Exchange) => boolean = () => false;

  private readonly server = createServer((request, response) => this.serve(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    const address = this.server.address();
    return isAddressInfo(address) ? address.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Calls of the test itself, without what the pool asks for its own sake. */
  get asked(): string[] {
    return this.seen.filter((call) => this.ofThePool(call) === null).map(({ method }) => method);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const body: RpcCall | RpcCall[] = JSON.parse(text);
      const calls = Array.isArray(body) ? body : [body];
      this.seen.push(...calls);
      this.bodies.push(text);
      this.paths.push(request.url ?? '');
      this.authorizations.push(request.headers.authorization);
      if (this.hung) return;
      const isOfThePool = calls.every((call) => this.ofThePool(call) !== null);
      if (!isOfThePool && this.takeOver({ calls, isBatch: Array.isArray(body), request, response })) return;
      const answers = calls.flatMap((call) => {
        const answer = this.ofThePool(call) ?? this.answer(call);
        return answer === 'nothing' ? [] : [{ jsonrpc: '2.0', id: call.id, ...answer }];
      });
      response.setHeader('content-type', 'application/json');
      // The other way round on purpose: the order of a batch's answers is free.
      response.end(JSON.stringify(Array.isArray(body) ? answers.reverse() : (answers[0] ?? {})));
    });
  }

  /** Which chain it is and how far: null for any other question. */
  private ofThePool({ method }: RpcCall): FakeAnswer | null {
    if (method === 'eth_chainId') return { result: `0x${this.chainId.toString(16)}` };
    return method === 'eth_blockNumber' ? { result: `0x${this.head.toString(16)}` } : null;
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
