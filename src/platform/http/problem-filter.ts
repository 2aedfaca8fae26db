import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Catch, type ArgumentsHost, type ExceptionFilter, MethodNotAllowedException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { type Quota, RateLimited } from '../limits/rate-limited.js';
import { Log } from '../logging/log.js';
import { retryAfterOf } from './answer-raw.js';
import { domainProblem, reportFault } from './domain-problem.js';
import { drainRequest } from './drain-request.js';
import { LockstepFastifyAdapter } from './fastify-server.js';
import { httpErrorProblem, INTERNAL_PROBLEM, methodNotAllowed } from './http-error-problem.js';
import { PROBLEM_CONTENT_TYPE, problemJson, type Problem } from './problem-details.js';

/** Answers every error as problem+json. Internal errors are logged in full, and their details are not sent to clients. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly log: Log,
    private readonly host: HttpAdapterHost,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const problem = this.problemOf(error, request);
    if (problem.status >= 500) reportFault(this.log, error, problem, request);
    // The status of a stream that broke half-way is already sent; only closing the connection shows the error to the client.
    if (reply.raw.headersSent) return void reply.raw.destroy();
    if (problem.status === 405) void reply.header('allow', this.allowedMethods(request).join(', '));
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    const asked = error instanceof DomainError ? error.retryAfterSeconds : null;
    const retryAfter = asked ?? retryAfterOf(problem);
    if (retryAfter !== null) void reply.header('retry-after', String(retryAfter));
    if (error instanceof RateLimited && error.quota !== null) addQuota(error.quota, reply);
    const body = problemJson(problem, request.url);
    void reply.status(problem.status).header('content-type', PROBLEM_CONTENT_TYPE);
    if (!isMuchUnread(request)) return void reply.send(body);
    void reply
      .header('connection', 'close')
      .header('content-length', Buffer.byteLength(body))
      .send(Readable.from(endingLate(body, request.raw)));
  }

  private problemOf(error: unknown, request: FastifyRequest): Problem {
    if (error instanceof DomainError) return domainProblem(error);
    if (error instanceof MethodNotAllowedException) return methodNotAllowed(request, this.allowedMethods(request));
    return httpErrorProblem(error, request) ?? INTERNAL_PROBLEM;
  }

  private allowedMethods(request: FastifyRequest): readonly string[] {
    const { httpAdapter } = this.host;
    return httpAdapter instanceof LockstepFastifyAdapter ? httpAdapter.allowedMethods(request.url) : [];
  }
}

/** Beside those of the account, when it has limits. */
function addQuota({ policy, left }: Quota, reply: FastifyReply): void {
  for (const [name, item] of [
    ['ratelimit-policy', policy],
    ['ratelimit', left],
  ] as const)
    void reply.header(name, [reply.getHeader(name) ?? [], item].flat().join(', '));
}

/** Whether more of its body may come than Node discards by itself, which is all that the client sends. */
function isMuchUnread({ raw, routeOptions: { bodyLimit } }: FastifyRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  return !raw.complete && (encoding !== undefined || Number(length ?? 0) > bodyLimit);
}

/** The whole answer at once; its end, with which the connection is closed, when the client has sent what it wanted to send. */
async function* endingLate(body: string, request: IncomingMessage): AsyncGenerator<string> {
  yield body;
  await drainRequest(request);
}
