import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsServerOptions } from 'node:https';
import { answerBrokenRequest, answerConnect } from './broken-request.js';

/** A server without Fastify, whose broken requests are answered with problems, too. Resolves when it listens. */
export async function listenBare(
  { host, port, ...options }: (ServerOptions | TlsServerOptions) & { readonly host: string; readonly port: number },
  answer: RequestListener,
): Promise<Server> {
  // Else Node answers a request without Host itself, and one with an unknown Expect.
  const settings = { ...options, requireHostHeader: false };
  const server = 'cert' in options ? createTlsServer(settings, answer) : createServer(settings, answer);
  server.on('checkExpectation', answer).on('connect', answerConnect).on('clientError', answerBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/** Resolves when the port is free. */
export async function closeNow(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
