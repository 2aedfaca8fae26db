import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Demand, DEMANDS, IS_LONG, type IsLong, NOTHING, senderOf } from '../http/scope.js';
import { RequestLimits } from './request-limits.js';

/** Stops, pauses and syncs: whatever floods an account may be the reason for one, so none is refused. */
export const NEVER_REFUSED: Demand = 'signers:admin';

/** Lets a request pass whose account may send it now. Its caller is known, and its body is not validated yet. */
@Injectable()
export class LimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RequestLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    const demand = this.reflector.get<Demand>(DEMANDS, handler);
    if (demand === NOTHING || demand === NEVER_REFUSED) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { caller, wasForwarded } = senderOf(request);
    // The node that forwarded it has counted it.
    if (wasForwarded) return true;
    const isLong = this.reflector.get<IsLong | undefined>(IS_LONG, handler)?.(request) ?? false;
    const bytes = Number(request.headers['content-length'] ?? 0);
    const weight = { requests: requestsIn(request.body), bytes, isLong };
    this.limits.admit(caller.account, weight, http.getResponse<FastifyReply>());
    return true;
  }
}

/** Of one request: more would make an account wait for what is refused anyhow. */
const MOST_COUNTED = 100;

/** Only batches have `items`, and only a reservation of nonces has a `count`: each of them is one. */
export function requestsIn(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 1;
  const { items, count } = body as { readonly items?: unknown; readonly count?: unknown };
  if (Array.isArray(items)) return Math.max(1, items.length);
  return typeof count === 'number' && count >= 1 ? Math.min(Math.ceil(count), MOST_COUNTED) : 1;
}
