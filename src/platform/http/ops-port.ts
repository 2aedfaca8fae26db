import type { FastifyRequest } from 'fastify';
import type { ServerConfig } from '../../config/index.js';

/** Whether the port of this request has nothing for it: with `server.opsPort`, health and metrics are there and all else is not. */
export function isOnOtherPort({ raw, routeOptions }: FastifyRequest, { opsPort }: ServerConfig): boolean {
  if (opsPort === undefined) return false;
  // The path of the route: a request may write its own with %61 for an a, or with a host before it.
  const isOps = /^\/(health\/|metrics$)/.test(routeOptions.url ?? '');
  const cameByOps = raw.socket.localPort === opsPort;
  return cameByOps ? !isOps : isOps;
}
