import { TcpProxy } from '../../test/support/tcp-proxy.js';

const REQUEST_LINE = 'POST / HTTP/1.1';

/** A wire to the chain that takes its time: requests that are under way together are all late, none waits for another. */
export class SlowRpc {
  /** HTTP requests that a client sent; a batch of calls is one. */
  requests = 0;
  private proxy: TcpProxy | null = null;

  /** @param roundTripMs added to every answer */
  constructor(private readonly roundTripMs: number) {}

  /** @returns where to send instead */
  async listen(chainUrl: string): Promise<string> {
    this.proxy = await TcpProxy.listen(chainUrl, () => (chunk) => {
      // A client writes a request at once, so its first line is never cut in two.
      for (let at = chunk.indexOf(REQUEST_LINE); at >= 0; at = chunk.indexOf(REQUEST_LINE, at + 1)) this.requests += 1;
    });
    this.proxy.delay(this.roundTripMs / 2);
    return this.proxy.url;
  }

  async stop(): Promise<void> {
    await this.proxy?.stop();
  }
}
