import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the link does to what crosses it. */
export type LinkMode =
  | 'pass'
  /** Open connections are reset, new ones too. */
  | 'cut'
  /** Connections stay open and nothing arrives, in either direction. */
  | 'black-hole'
  /** What the client says arrives; the answer is swallowed, and then the connection is reset. */
  | 'drop-answers';

/** How a test knows that its fault happened. */
export interface LinkCounters {
  connections: number;
  /** Connections that the proxy ended by force, or refused. */
  resets: number;
  /** Chunks that were swallowed. */
  swallowed: number;
  /** Answers that were swallowed after their request had been delivered. */
  droppedAnswers: number;
  /** Chunks that arrived late. */
  delayed: number;
}

export interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** One link of one node, to a database or an RPC endpoint, that a test can break. */
export class TcpProxy {
  readonly counters: LinkCounters = { connections: 0, resets: 0, swallowed: 0, droppedAnswers: 0, delayed: 0 };
  private readonly links = new Set<Link>();
  private mode: LinkMode = 'pass';
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    /** Sees every chunk from a client to the server; one reader for each connection. */
    private readonly tap: () => (chunk: Buffer) => void,
  ) {
    server.on('connection', (client) => this.accept(client));
  }

  /** @param tap makes a reader of what the client of one connection says */
  static async listen(targetUrl: string, tap: () => (chunk: Buffer) => void = () => () => {}): Promise<TcpProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new TcpProxy(server, new URL(targetUrl), tap);
  }

  /** The target's URL, by way of this proxy. */
  get url(): string {
    const address = this.server.address();
    const url = new URL(this.target.href);
    url.hostname = '127.0.0.1';
    url.port = typeof address === 'object' && address ? String(address.port) : '';
    return url.href;
  }

  set(mode: LinkMode): void {
    this.mode = mode;
    if (mode === 'cut') this.resetAll();
  }

  /** One way; a round trip takes twice as long. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** As it was; connections from the time of a black hole have lost bytes, and are of no use any more. */
  heal(): void {
    if (this.mode === 'black-hole') this.resetAll();
    this.mode = 'pass';
    this.delayMs = 0;
  }

  resetAll(): void {
    for (const link of [...this.links]) this.reset(link);
  }

  async stop(): Promise<void> {
    this.resetAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    this.counters.connections += 1;
    client.on('error', () => {});
    if (this.mode === 'cut') {
      this.counters.resets += 1;
      resetSocket(client);
      return;
    }
    const server = connect({ host: this.target.hostname, port: Number(this.target.port) });
    const link = { client, server };
    this.links.add(link);
    client.setNoDelay(true);
    server.setNoDelay(true);
    server.on('error', () => resetSocket(client));
    client.on('close', () => this.end(link));
    server.on('close', () => this.end(link));
    const read = this.tap();
    this.forward(client, server, (chunk) => {
      if (this.mode === 'black-hole') return this.swallow();
      read(chunk);
      return true;
    });
    this.forward(server, client, () => {
      if (this.mode === 'black-hole') return this.swallow();
      if (this.mode !== 'drop-answers') return true;
      this.counters.droppedAnswers += 1;
      this.reset(link);
      return this.swallow();
    });
  }

  /** Late chunks keep their order, also when the delay changes meanwhile. */
  private forward(from: Socket, to: Socket, passes: (chunk: Buffer) => boolean): void {
    let order = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      if (!passes(chunk)) return;
      const due = performance.now() + this.delayMs;
      if (this.delayMs > 0) this.counters.delayed += 1;
      order = order.then(async () => {
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.on('end', () => void order.then(() => to.end()));
  }

  private swallow(): false {
    this.counters.swallowed += 1;
    return false;
  }

  private reset(link: Link): void {
    this.counters.resets += 1;
    resetSocket(link.client);
    this.end(link);
  }

  private end(link: Link): void {
    this.links.delete(link);
    link.client.destroy();
    link.server.destroy();
  }
}

/**
 * A socket that is being shut down cannot be reset; Node 20 then takes its handle for closed when it is not, and spins for ever
 * in the clean-up at the end of the process (TCPWrap::Reset, Environment::CleanupHandles).
 */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
