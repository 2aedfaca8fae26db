import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import { MethodNotAllowedException, NotFoundException } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerConfig } from '../../config/index.js';
import { NotFound, Unavailable } from '../../kernel/errors.js';
import { closeNow, listenBare } from './bare-server.js';
import { answerRaw, REQUEST_ID_HEADER, requestIdOf } from './answer-raw.js';
import { isOnOtherPort } from './ops-port.js';
import { answerBrokenRequest, answerConnect, LONG_URL, NO_HOST, UNMET_EXPECTATION } from './broken-request.js';
import { readCertificate } from './certificate.js';
import { httpErrorProblem, INTERNAL_PROBLEM } from './http-error-problem.js';
import { parseBoundedJson } from './json-body.js';
import { RouteTable } from './route-table.js';

/** Bytes of all headers together. */
const MOST_HEADER_BYTES = 16_384;
/** What RFC 9110 wants at least. */
const LONGEST_URL = 8_000;
const TLS_HANDSHAKE_MS = 10_000;

type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Nest's adapter for Fastify. It reads only JSON bodies, and has a table of its routes. */
export class LockstepFastifyAdapter extends FastifyAdapter {
  private readonly routeTable = new RouteTable();
  private draining = false;
  private admit: Admit = async () => undefined;
  private closeOps: () => Promise<void> = () => Promise.resolve();

  constructor(config: ServerConfig) {
    super(serverOptions(config));
    const server = this.getInstance();
    // Nest's parser also accepts forms; Fastify's own is enough, and is strict about prototypes.
    server.removeContentTypeParser('text/plain');
    parseBoundedJson(server);
    server.addHook('onRoute', ({ method, url }) => this.routeTable.add(method, url));
    server.addHook('preClose', (done) => {
      this.draining = true;
      done();
    });
    server.addHook('onClose', () => this.closeOps());
    server.server.on('connect', answerConnect);
    server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      answerRaw(UNMET_EXPECTATION, request, response),
    );
    void server.register(helmet, headersOf(config));
    // After the hooks of helmet, so that what is answered here has its headers, too.
    server.after(() =>
      server.addHook('onRequest', (request, reply, done) => {
        if (request.url.length > LONGEST_URL) {
          reply.hijack();
          answerRaw(LONG_URL, request.raw, reply.raw);
          return;
        }
        if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
          reply.hijack();
          answerRaw(NO_HOST, request.raw, reply.raw);
          return;
        }
        void reply.header(REQUEST_ID_HEADER, request.id);
        // Answers have amounts, addresses and, once, secrets of webhooks.
        if (isOnOtherPort(request, config)) {
          done(notHere());
          return;
        }
        if (request.url.startsWith('/api/')) void reply.header('cache-control', 'no-store');
        const allowed = this.needsMethods(request) ? this.allowedMethods(request.url) : [];
        if (allowed.length > 0 && request.method === 'OPTIONS') {
          void reply
            .status(204)
            .header('allow', [...allowed, 'OPTIONS'].join(', '))
            .send();
          return;
        }
        if (allowed.length > 0 && !allowed.includes(request.method)) {
          done(new MethodNotAllowedException());
          return;
        }
        // Generated clients send a content type without a body, for example with DELETE.
        if (isEmpty(request.raw)) delete request.raw.headers['content-type'];
        // Its body is never read.
        if (request.is404) done(new NotFoundException());
        else done(this.draining ? shuttingDown() : undefined);
      }),
    );
    server.after(() => server.addHook('onRequest', (request, reply) => this.admit(request, reply)));
  }

  /** Asked of every request with a route, when its headers are there and its body is not read. What it throws is answered. */
  admitBy(admit: Admit): void {
    this.admit = admit;
  }

  /** Opens the port of health and metrics, when there is one. It closes with the other. */
  async listenOps({ host, opsPort, headersTimeout, requestTimeout }: ServerConfig): Promise<void> {
    if (opsPort === undefined) return;
    const fastify = this.getInstance();
    const options = { host, port: opsPort, maxHeaderSize: MOST_HEADER_BYTES, headersTimeout, requestTimeout };
    const server = await listenBare(options, (request, response) => fastify.routing(request, response));
    this.closeOps = () => closeNow(server);
  }

  /** The methods of the path of this URL; empty when there is no such path. */
  allowedMethods(url: string): readonly string[] {
    return this.routeTable.methodsOf(url);
  }

  /** No other request can have a method that its path does not. */
  private needsMethods({ method, is404, url, routeOptions: { url: pattern = '' } }: FastifyRequest): boolean {
    return method === 'OPTIONS' || is404 || (pattern.includes(':') && this.routeTable.isOfOther(pattern, url));
  }

  override registerParserMiddleware(): void {
    // Does nothing on purpose: see the constructor.
  }
}

export function createFastifyAdapter(config: ServerConfig): LockstepFastifyAdapter {
  return new LockstepFastifyAdapter(config);
}

function serverOptions({ bodyLimit, tls, headersTimeout, requestTimeout }: ServerConfig): FastifyHttpOptions<Server> {
  const http: ServerOptions = {
    // Else Node answers a request without Host itself.
    requireHostHeader: false,
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout,
    requestTimeout,
    // Node looks this often for connections whose time is over.
    connectionsCheckingInterval: headersTimeout / 2,
  };
  return {
    bodyLimit,
    logger: false,
    ...(tls.files === null
      ? { http }
      : { https: { ...http, ...readCertificate(tls.files), handshakeTimeout: TLS_HANDSHAKE_MS } }),
    genReqId: requestIdOf,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 200 },
    // Longer than the 60 s of common load balancers: the load balancer must be the side that closes an idle connection.
    keepAliveTimeout: 72_000,
    // For an idle socket; above the longest long poll.
    connectionTimeout: 120_000,
    requestTimeout,
    forceCloseConnections: 'idle',
    // Fastify's answer while closing is not problem+json; the hook above answers instead.
    return503OnClosing: false,
    // Malformed URLs fail before routing, where Nest's error handlers do not run.
    frameworkErrors: (error, request, reply) => {
      const problem = httpErrorProblem(error, request) ?? INTERNAL_PROBLEM;
      // Fastify has no typed reply without a route, so write the bytes directly.
      reply.hijack();
      answerRaw(problem, request.raw, reply.raw);
    },
    clientErrorHandler: answerBrokenRequest,
  };
}

/** One policy for all: what Swagger UI needs of its own origin, and nothing else. */
function headersOf({ tls }: ServerConfig): FastifyHelmetOptions {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        // Its page has styles of its own, and its pictures are data URLs.
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    // Without TLS of its own, the proxy in front tells it.
    hsts: tls.files !== null && { maxAge: 31_536_000, includeSubDomains: false },
  };
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}

function notHere(): NotFound {
  return new NotFound(
    'route_not_found',
    'this port has no such path: health and metrics are on server.opsPort, and all else on server.port',
    'use the other port',
  );
}

function shuttingDown(): Unavailable {
  return new Unavailable(
    'shutting_down',
    'this node is shutting down',
    'send the request again: another node answers it',
  );
}
