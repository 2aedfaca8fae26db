import type { Socket } from 'node:net';
import { Agent, buildConnector, WebSocket } from 'undici';
import { messageOf } from '../../../../kernel/errors.js';
import type { Hash } from '../../../../kernel/hex.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { EndpointUrl } from './endpoint-url.js';
import { isRecord } from './json-rpc.js';
import { hash, smallNumber } from '../parse-answer.js';

export interface AnnouncedHead {
  readonly number: number;
  readonly hash: Hash;
}

export interface HeadSocketOptions {
  readonly url: EndpointUrl;
  readonly chainId: ChainId;
  /** From the start of connecting to the end of subscribing. Milliseconds. */
  readonly setUpMs: number;
  /** Longest time without an announcement. Milliseconds. */
  readonly silenceMs: number;
  readonly onHead: (head: AnnouncedHead) => void;
}

/** Why a connection ended. `reason` does not contain the URL. */
export type SocketEnd =
  | { readonly kind: 'wrong_chain'; readonly reported: number }
  | { readonly kind: 'lost'; readonly reason: string };

const CHAIN_ID_CALL = 1;
const SUBSCRIBE_CALL = 2;

/**
 * One WebSocket connection: it reads the chain id, subscribes to `newHeads` (geth documentation, "Real-time Events"), and passes on the
 * announced heads. It ends once, and then destroys the connection without waiting for a closing handshake.
 */
export class HeadSocket {
  readonly ended: Promise<SocketEnd>;
  private resolve: (end: SocketEnd) => void = () => undefined;
  private readonly agent: Agent;
  private readonly socket: WebSocket;
  private connection: Socket | null = null;
  private deadline: NodeJS.Timeout | null = null;

  constructor(private readonly options: HeadSocketOptions) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
    const connect = buildConnector({ timeout: options.setUpMs });
    this.agent = new Agent({
      connect: (target, done) => {
        connect(target, (...outcome) => {
          this.connection = outcome[1];
          done(...outcome);
        });
      },
    });
    const { origin, path, headers } = options.url;
    this.socket = new WebSocket(`${origin}${path}`, { dispatcher: this.agent, headers: { ...headers } });
    this.socket.addEventListener('open', () => this.call(CHAIN_ID_CALL, 'eth_chainId', []));
    this.socket.addEventListener('message', ({ data }) => this.receive(data));
    this.socket.addEventListener('error', (event) => this.end(this.lost(messageOf(event.error) || 'failed')));
    this.socket.addEventListener('close', ({ code }) => this.end(this.lost(`closed with code ${code}`)));
    this.waitAtMost(options.setUpMs, 'no answer while setting up');
  }

  close(): void {
    this.end(this.lost('closed by us'));
  }

  private call(id: number, method: string, params: readonly unknown[]): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  private receive(data: unknown): void {
    try {
      const message: unknown = JSON.parse(String(data));
      if (!isRecord(message)) throw new Error('not a JSON-RPC message');
      if (message['method'] === 'eth_subscription') this.announced(message['params']);
      else this.answered(message);
    } catch (error) {
      this.end(this.lost(messageOf(error)));
    }
  }

  private answered({ id, result, error }: Readonly<Record<string, unknown>>): void {
    if (isRecord(error)) throw new Error(String(error['message']));
    if (id === SUBSCRIBE_CALL) {
      this.waitForNext();
    } else if (id === CHAIN_ID_CALL) {
      const reported = smallNumber(result, 'chain id');
      if (reported === this.options.chainId) this.call(SUBSCRIBE_CALL, 'eth_subscribe', ['newHeads']);
      else this.end({ kind: 'wrong_chain', reported });
    }
  }

  private announced(params: unknown): void {
    const header = isRecord(params) && isRecord(params['result']) ? params['result'] : {};
    const head = { number: smallNumber(header['number'], 'head.number'), hash: hash(header['hash'], 'head.hash') };
    this.waitForNext();
    this.options.onHead(head);
  }

  private waitForNext(): void {
    const { silenceMs } = this.options;
    this.waitAtMost(silenceMs, `no announcement for ${silenceMs} ms`);
  }

  private waitAtMost(milliseconds: number, otherwise: string): void {
    if (this.deadline !== null) clearTimeout(this.deadline);
    this.deadline = setTimeout(() => this.end(this.lost(otherwise)), milliseconds).unref();
  }

  private lost(reason: string): SocketEnd {
    return { kind: 'lost', reason: this.options.url.clean(reason).slice(0, 200) };
  }

  private end(end: SocketEnd): void {
    if (this.deadline !== null) clearTimeout(this.deadline);
    this.resolve(end);
    this.connection?.destroy();
    void this.agent.destroy();
  }
}
