import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { InvariantViolation } from '../../../../kernel/errors.js';
import { ForwardSignatures } from '../../../../platform/http/forward-signatures.js';
import { type Demand, DEMANDS, NOTHING, senderOf } from '../../../../platform/http/scope.js';

/** Lets only requests pass that {@link AdmitByHeaders} has let pass, to routes that say what they demand. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly forwarded: ForwardSignatures,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const demand = this.reflector.get<Demand | undefined>(DEMANDS, context.getHandler());
    if (demand === undefined) throw new InvariantViolation('a route does not say what it demands of its callers');
    if (demand === NOTHING) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (senderOf(request).wasForwarded) this.forwarded.assertBody(request.headers, request.body);
    return true;
  }
}
