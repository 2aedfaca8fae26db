import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** An HTTP server on a free port of this machine. */
export abstract class LocalServer {
  private readonly server = createServer((request, response) => {
    text(request)
      .then((body) => this.handle(body, response))
      .catch(() => response.destroy());
  });

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  protected async listening(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return this;
  }

  /** What it throws costs the client the connection. */
  protected abstract handle(body: string, response: ServerResponse): Promise<void>;
}
