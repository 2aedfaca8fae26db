import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerConfig } from '../../config/index.js';
import { answerBrokenRequest, answerConnect } from './broken-request.js';
import { readCertificate } from './certificate.js';
import { PROBLEM_CONTENT_TYPE, problemJson } from './problem-details.js';

const STARTING = {
  status: 503,
  code: 'starting',
  detail: 'this node is starting: it waits for its database, or runs migrations',
  advice: 'try again in a moment, or use another node',
  retryable: true,
};

/**
 * Answers on the port of the service before the service starts. Liveness answers 200, because a restart does not repair a database; every
 * other path answers a retryable 503.
 */
export class WaitingRoom {
  private constructor(private readonly server: Server) {}

  static async open({ host, port, tls }: ServerConfig): Promise<WaitingRoom> {
    // Else Node answers a request without Host itself, and one with an unknown Expect.
    const options = { requireHostHeader: false };
    const server = tls.files
      ? createTlsServer({ ...options, ...readCertificate(tls.files) }, answer)
      : createServer(options, answer);
    server.on('checkExpectation', answer).on('connect', answerConnect).on('clientError', answerBrokenRequest);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return new WaitingRoom(server);
  }

  /** The port is free when this resolves. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  // A connection that stays open would lead to this server even when the service has started.
  response.setHeader('connection', 'close');
  if (/^\/health\/live\/?(\?|$)/.test(url)) {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('{"status":"ok"}');
    return;
  }
  response.writeHead(503, { 'content-type': PROBLEM_CONTENT_TYPE, 'retry-after': '1' }).end(problemJson(STARTING, url));
}
