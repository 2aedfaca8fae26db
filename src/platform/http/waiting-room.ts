import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ServerConfig } from '../../config/index.js';
import { answerRaw, REQUEST_ID_HEADER, requestIdOf } from './answer-raw.js';
import { closeNow, listenBare } from './bare-server.js';
import { readCertificate } from './certificate.js';
import type { Problem } from './problem-details.js';

export const STARTING: Problem = {
  status: 503,
  code: 'starting',
  detail: 'this node is starting: it waits for its database, or runs migrations',
  advice: 'try again in a moment, or use another node',
  retryable: true,
};

/**
 * Answers on the ports of the service before the service starts. Liveness answers 200, because a restart does not repair a database; every
 * other path answers a retryable 503.
 */
export class WaitingRoom {
  private constructor(private readonly servers: readonly Server[]) {}

  static async open({ host, port, opsPort, tls }: ServerConfig): Promise<WaitingRoom> {
    const main = await listenBare({ host, port, ...(tls.files && readCertificate(tls.files)) }, answer);
    if (opsPort === undefined) return new WaitingRoom([main]);
    return new WaitingRoom([main, await listenBare({ host, port: opsPort }, answer)]);
  }

  /** The ports are free when this resolves. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map(closeNow));
  }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  // A connection that stays open would lead to this server even when the service has started.
  response.setHeader('connection', 'close');
  if (!/^\/health\/live\/?(\?|$)/.test(request.url ?? '')) {
    answerRaw(STARTING, request, response);
    return;
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', [REQUEST_ID_HEADER]: requestIdOf(request) };
  response.writeHead(200, headers).end('{"status":"ok"}');
}
