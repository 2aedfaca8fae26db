import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../../kernel/caller.js';
import { Forbidden, InvariantViolation, Unauthenticated } from '../../../../kernel/errors.js';
import { ForwardSignatures } from '../../../../platform/http/forward-signatures.js';
import { type Demand, DEMANDS, NOTHING, setSender } from '../../../../platform/http/scope.js';
import { Metrics } from '../../../../platform/metrics/metrics.js';
import { Identify } from '../../application/identify.js';
import type { Session } from '../../application/session.js';
import { missingScope } from '../../domain/api-key.js';
import { OpenRequests } from './open-requests.js';

/** Lets a request pass whose caller has the scope that the route declares. A refusal is counted and not logged: a flood of them fills no log. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly identify: Identify,
    private readonly forwarded: ForwardSignatures,
    private readonly open: OpenRequests,
    private readonly metrics: Metrics,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const demand = this.reflector.get<Demand | undefined>(DEMANDS, context.getHandler());
    if (demand === undefined) throw new InvariantViolation('a route does not say what it demands of its callers');
    if (demand === NOTHING) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const caller = this.forwardedBy(request);
    const session = caller === null ? await this.sessionOf(request) : { caller, isLive: () => true };
    if (!session.caller.scopes.includes(demand)) {
      this.metrics.count('auth_refused_total', 1, { reason: 'scope' });
      throw missingScope([demand], 'the key or token lacks what this route needs');
    }
    setSender(request, { caller: session.caller, wasForwarded: caller !== null });
    this.open.add(http.getResponse<FastifyReply>(), session);
    return true;
  }

  /** @returns null when no other node sent it */
  private forwardedBy({ headers, url, body }: FastifyRequest): Caller | null {
    try {
      return this.forwarded.callerOf(headers, url, body);
    } catch (error) {
      this.metrics.count('auth_refused_total', 1, { reason: 'forwarded' });
      throw error;
    }
  }

  private async sessionOf({ headers }: FastifyRequest): Promise<Session> {
    const credential = credentialOf(headers);
    try {
      return await this.identify.execute(credential);
    } catch (error) {
      if (error instanceof Unauthenticated)
        this.metrics.count('auth_refused_total', 1, { reason: credential === null ? 'missing' : 'invalid' });
      if (error instanceof Forbidden) this.metrics.count('auth_refused_total', 1, { reason: 'account' });
      throw error;
    }
  }
}

/** Never from the URL, which proxies log. */
function credentialOf({ authorization, ...headers }: FastifyRequest['headers']): string | null {
  if (authorization !== undefined) return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const key = headers['x-api-key'];
  return typeof key === 'string' ? key : null;
}
