import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NodeConfig } from '../../../../config/lockstep-config.js';
import { type Caller, missingScope } from '../../../../kernel/caller.js';
import { Forbidden, NotFound, Unauthenticated } from '../../../../kernel/errors.js';
import { LockstepFastifyAdapter } from '../../../../platform/http/fastify-server.js';
import { ForwardSignatures } from '../../../../platform/http/forward-signatures.js';
import { demandOf, NOTHING, setSender } from '../../../../platform/http/scope.js';
import { Metrics } from '../../../../platform/metrics/metrics.js';
import { Identify } from '../../application/identify.js';
import type { Session } from '../../application/session.js';
import { OpenRequests } from './open-requests.js';

/**
 * Lets a request pass whose caller has the scope that the route declares, before its body is read: who has no key makes the node read and parse
 * nothing. A refusal is counted and not logged: a flood of them fills no log.
 */
@Injectable()
export class AdmitByHeaders implements OnModuleInit {
  constructor(
    private readonly identify: Identify,
    private readonly forwarded: ForwardSignatures,
    private readonly open: OpenRequests,
    private readonly metrics: Metrics,
    private readonly role: NodeConfig,
    private readonly host: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter instanceof LockstepFastifyAdapter)
      httpAdapter.admitBy((request, reply) => this.admitByHeaders(request, reply));
  }

  async admitByHeaders(request: FastifyRequest, reply: Pick<FastifyReply, 'raw'>): Promise<void> {
    if (!this.role.serves) {
      assertNotApi(request);
      return;
    }
    const demand = demandOf(request);
    if (demand === undefined || demand === NOTHING) return;
    const caller = this.forwardedBy(request);
    const session = caller === null ? await this.sessionOf(request) : { caller, isLive: () => true };
    if (!session.caller.scopes.includes(demand)) {
      this.metrics.count('auth_refused_total', 1, { reason: 'scope' });
      throw missingScope([demand], 'the key or token lacks what this route needs');
    }
    setSender(request, { caller: session.caller, wasForwarded: caller !== null });
    this.open.add(reply, session);
  }

  /** @returns null when no other node sent it */
  private forwardedBy({ headers, url }: FastifyRequest): Caller | null {
    try {
      return this.forwarded.callerOf(headers, url);
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

/** A node of role `worker` has probes and metrics only. The path is that of the route: a request may write its own with %61 for an a, or with a host before it. */
function assertNotApi({ routeOptions: { url = '' } }: FastifyRequest): void {
  if (!url.startsWith('/api/')) return;
  throw new NotFound(
    'route_not_found',
    'this node has role worker and no API',
    'send the request to a node of role api or all',
  );
}

/** Never from the URL, which proxies log. */
function credentialOf({ authorization, ...headers }: FastifyRequest['headers']): string | null {
  if (authorization !== undefined) return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const key = headers['x-api-key'];
  return typeof key === 'string' ? key : null;
}
