import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a fake node says to one call. */
export type FakeAnswer =
  { result: unknown } | { error: { code?: number; message: string; data?: unknown } } | 'nothing';

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

  /** Calls of the test itself, without the check of the chain id. */
  get asked(): string[] {
    return this.seen.map(({ method }) => method).filter((method) => method !== 'eth_chainId');
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
      const isHandshake = calls.every(({ method }) => method === 'eth_chainId');
      if (!isHandshake && this.takeOver({ calls, isBatch: Array.isArray(body), request, response })) return;
      const answers = calls.flatMap((call) => {
        const answer = call.method === 'eth_chainId' ? { result: `0x${this.chainId.toString(16)}` } : this.answer(call);
        return answer === 'nothing' ? [] : [{ jsonrpc: '2.0', id: call.id, ...answer }];
      });
      response.setHeader('content-type', 'application/json');
      // The other way round on purpose: the order of a batch's answers is free.
      response.end(JSON.stringify(Array.isArray(body) ? answers.reverse() : (answers[0] ?? {})));
    });
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
