import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { NodeConfig } from '../../config/lockstep-config.js';
import { NotFound } from '../../kernel/errors.js';

/** A node of role `worker` has probes and metrics, and no API. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly role: NodeConfig) {}

  canActivate(context: ExecutionContext): boolean {
    // The path of the route: a request may write its own with %61 for an a, or with a host before it.
    const { url = '' } = context.switchToHttp().getRequest<FastifyRequest>().routeOptions;
    if (this.role.serves || !url.startsWith('/api/')) return true;
    throw new NotFound(
      'route_not_found',
      'this node has role worker and no API',
      'send the request to a node of role api or all',
    );
  }
}
