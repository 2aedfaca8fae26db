import { Catch, type ArgumentsHost, type ExceptionFilter, MethodNotAllowedException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
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
    if (problem.code === 'body_too_large') await drainRequest(request.raw);
    if (problem.status === 405) void reply.header('allow', this.allowedMethods(request).join(', '));
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    const asked = error instanceof DomainError ? error.retryAfterSeconds : null;
    const retryAfter = asked ?? retryAfterOf(problem);
    if (retryAfter !== null) void reply.header('retry-after', String(retryAfter));
    void reply
      .status(problem.status)
      .header('content-type', PROBLEM_CONTENT_TYPE)
      .send(problemJson(problem, request.url));
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
