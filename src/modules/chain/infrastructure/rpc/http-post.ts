import { Pool } from 'undici';
import type { EndpointUrl } from './endpoint-url.js';

/** What came back over HTTP, whole. */
export interface HttpAnswer {
  readonly statusCode: number;
  /** The header of that name. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** The wire under one JSON-RPC endpoint. */
export interface HttpPost {
  /** @throws whatever the transport throws: nothing is known of the request then, unless the error says so */
  post(body: string): Promise<HttpAnswer>;
  /** Drops open connections; requests in flight fail. */
  close(): Promise<void>;
}

/** Sockets to one endpoint; more requests wait for a free one. */
const CONNECTIONS = 16;
/** A block's receipts on a large chain are a few MB. Bytes. */
const LARGEST_RESPONSE = 128 * 1024 * 1024;

export class UndiciPost implements HttpPost {
  private readonly pool: Pool;

  /** `timeoutMs`: for one round trip, from start to the last byte. */
  constructor(
    private readonly url: EndpointUrl,
    private readonly timeoutMs: number,
  ) {
    this.pool = new Pool(url.origin, {
      connections: CONNECTIONS,
      connect: { timeout: timeoutMs },
      maxResponseSize: LARGEST_RESPONSE,
    });
  }

  async post(body: string): Promise<HttpAnswer> {
    const answer = await this.pool.request({
      method: 'POST',
      path: this.url.path,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...this.url.headers },
      body,
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    const retryAfter = answer.headers['retry-after'];
    return {
      statusCode: answer.statusCode,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      text: await answer.body.text(),
    };
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}
