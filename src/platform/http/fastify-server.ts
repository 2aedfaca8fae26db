import { randomUUID } from 'node:crypto';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import type { ServerConfig } from '../../config/index.js';
import { Unavailable } from '../../kernel/errors.js';
import { answerBrokenRequest } from './broken-request.js';
import { httpErrorProblem, INTERNAL_PROBLEM } from './http-error-problem.js';
import { parseBoundedJson } from './json-body.js';
import { PROBLEM_CONTENT_TYPE, problemJson } from './problem-details.js';
import { RouteTable } from './route-table.js';

const REQUEST_ID_HEADER = 'x-request-id';

/** Nest's adapter for Fastify. It reads only JSON bodies, and has a table of its routes. */
export class LockstepFastifyAdapter extends FastifyAdapter {
  private readonly routeTable = new RouteTable();
  private draining = false;

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
    server.addHook('onRequest', (request, reply, done) => {
      void reply.header(REQUEST_ID_HEADER, request.id);
      done(this.draining ? shuttingDown() : undefined);
    });
  }

  /** The methods of the path of this URL; empty when there is no such path. */
  allowedMethods(url: string): readonly string[] {
    return this.routeTable.methodsOf(url);
  }

  override registerParserMiddleware(): void {
    // Does nothing on purpose: see the constructor.
  }
}

export function createFastifyAdapter(config: ServerConfig): FastifyAdapter {
  return new LockstepFastifyAdapter(config);
}

function serverOptions({ bodyLimit }: ServerConfig): FastifyServerOptions {
  return {
    bodyLimit,
    logger: false,
    genReqId: ({ headers }) => requestIdOf(headers[REQUEST_ID_HEADER]),
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 200 },
    // Longer than the 60 s of common load balancers: the load balancer must be the side that closes an idle connection.
    keepAliveTimeout: 72_000,
    // For an idle socket; above the longest long poll.
    connectionTimeout: 120_000,
    // Limits the time to send a whole request, so that a slow body cannot hold a connection.
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
    // Fastify's answer while closing is not problem+json; the hook above answers instead.
    return503OnClosing: false,
    // Malformed URLs fail before routing, where Nest's error handlers do not run.
    frameworkErrors: (error, request, reply) => {
      const problem = httpErrorProblem(error, request) ?? INTERNAL_PROBLEM;
      // Fastify has no typed reply without a route, so write the bytes directly.
      reply.hijack();
      reply.raw.writeHead(problem.status, { 'content-type': PROBLEM_CONTENT_TYPE, [REQUEST_ID_HEADER]: request.id });
      reply.raw.end(problemJson(problem, request.url));
    },
    clientErrorHandler: answerBrokenRequest,
  };
}

/** Keeps the caller's id when it is safe to log, so that one id follows a request through several systems. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
}

function shuttingDown(): Unavailable {
  return new Unavailable(
    'shutting_down',
    'this node is shutting down',
    'send the request again: another node answers it',
  );
}
