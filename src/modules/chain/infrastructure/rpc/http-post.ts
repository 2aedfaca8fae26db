import { Pool } from 'undici';
import type { EndpointUrl } from './endpoint-url.js';

/** A complete HTTP response. */
export interface HttpAnswer {
  readonly statusCode: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** HTTP transport of one JSON-RPC endpoint. */
export interface HttpPost {
  /**
   * @param timeoutMs shorter than usual
   * @throws the error of the transport: the request may have been delivered, unless the error proves the contrary
   */
  post(body: string, timeoutMs?: number): Promise<HttpAnswer>;
  /** Drops open connections; requests in flight fail. */
  close(): Promise<void>;
}

/** The code of what was asked after the connections were closed. */
export const CLOSED = 'ERR_ENDPOINT_CLOSED';
/** Connections to one endpoint; more requests wait for a free one. */
const MAX_CONNECTIONS = 16;
/** The receipts of a block on a large chain have a few MB. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

export class UndiciPost implements HttpPost {
  private readonly pool: Pool;

  /** `timeoutMs`: for one round trip, from start to the last byte. */
  constructor(
    private readonly url: EndpointUrl,
    private readonly timeoutMs: number,
  ) {
    this.pool = new Pool(url.origin, {
      connections: MAX_CONNECTIONS,
      connect: { timeout: timeoutMs },
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
  }

  async post(body: string, timeoutMs = this.timeoutMs): Promise<HttpAnswer> {
    // Requests in flight fail with the same error as those that come later, of which no byte leaves.
    if (this.pool.destroyed) throw Object.assign(new Error('this node is shutting down'), { code: CLOSED });
    const answer = await this.pool.request({
      method: 'POST',
      path: this.url.path,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...this.url.headers },
      body,
      signal: AbortSignal.timeout(timeoutMs),
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
