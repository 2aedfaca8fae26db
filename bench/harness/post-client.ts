import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Dispatcher } from 'undici';

/** What one load gave. */
export interface Load {
  /** Of every request, from sending to the last byte of the answer. Milliseconds. */
  readonly latencies: readonly number[];
  /** Unix milliseconds. */
  readonly start: number;
  readonly seconds: number;
}

/** The body of request number `n`; null when there are no more. */
export type BodySource = (n: number) => string | null;

/** Reads the text of an answer, and throws when it is not what was asked for. */
export type AnswerCheck = (text: string) => void;

const HEADERS = { 'content-type': 'application/json' };
type Headers = Readonly<Record<string, string>>;

/**
 * Clients that keep their connection and send one request at a time. Written on undici's `dispatch`, because what the
 * load generator uses of the two cores is taken from the service.
 */
export class PostClient {
  private readonly clients: readonly Client[];
  private readonly headers: Headers;

  /** Connections are spread evenly over the URLs. @param key that the requests bring; null: none */
  constructor(urls: readonly string[], connections: number, key: string | null = null) {
    this.headers = key === null ? HEADERS : { ...HEADERS, authorization: `Bearer ${key}` };
    this.clients = Array.from({ length: connections }, (_, i) => {
      const url = urls[i % urls.length];
      if (url === undefined) throw new Error('there is no URL to send to');
      return new Client(url, { pipelining: 1 });
    });
  }

  /** The next request of a connection follows the answer. */
  async closedLoop(path: string, bodies: BodySource, check?: AnswerCheck): Promise<Load> {
    let next = 0;
    return this.run(async (client, latencies) => {
      for (let body = bodies(next++); body !== null; body = bodies(next++)) {
        const sent = performance.now();
        await post(client, path, this.headers, body, check);
        latencies.push(performance.now() - sent);
      }
    });
  }

  /**
   * Request `n` is due `n / rate` seconds after the start, whatever became of the others; its latency counts from then,
   * so that a wait for a free connection is part of it.
   */
  async openLoop(path: string, bodies: BodySource, rate: number): Promise<Load> {
    let next = 0;
    const start = performance.now();
    return this.run(async (client, latencies) => {
      for (let n = next++, body = bodies(n); body !== null; n = next++, body = bodies(n)) {
        const due = start + (n * 1000) / rate;
        const early = due - performance.now();
        if (early > 0) await sleep(early);
        await post(client, path, this.headers, body);
        latencies.push(performance.now() - due);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
  }

  private async run(work: (client: Client, latencies: number[]) => Promise<void>): Promise<Load> {
    const latencies: number[] = [];
    const start = Date.now();
    const began = performance.now();
    await Promise.all(this.clients.map((client) => work(client, latencies)));
    return { latencies, start, seconds: (performance.now() - began) / 1000 };
  }
}

export function fromList(bodies: readonly string[]): BodySource {
  return (n) => bodies[n] ?? null;
}

function post(client: Client, path: string, headers: Headers, body: string, check?: AnswerCheck): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        try {
          if (status < 200 || status > 299)
            throw new Error(`${path} answered ${status}: ${Buffer.concat(chunks).toString().slice(0, 500)}`);
          check?.(Buffer.concat(chunks).toString());
          resolve();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      onResponseError: (_controller, error) => {
        reject(error);
      },
    };
    client.dispatch({ path, method: 'POST', headers, body }, handler);
  });
}
