import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Caller, Scope as ScopeName } from '../../kernel/caller.js';
import { InvariantViolation } from '../../kernel/errors.js';

/** What a route demands of its callers: a scope, or nothing. The guards read it of the route or its method, and `src/security.ts` of the document. */
export const DEMANDS = 'x-demands';
export const NOTHING = 'nothing';
export type Demand = ScopeName | typeof NOTHING;

/** Only callers with this scope may use the route. */
export function Scope(scope: ScopeName): MethodDecorator {
  return demand(scope);
}

/** Anybody may use the route, without a key. */
export function Open(): MethodDecorator {
  return demand(NOTHING);
}

function demand(what: Demand): MethodDecorator {
  return applyDecorators(SetMetadata(DEMANDS, what), ApiExtension(DEMANDS, what), RouteConfig({ [DEMANDS]: what }));
}

/** Says of a request, before it is validated, whether its answer is a stream, or waits for something. */
export type IsLong = (request: FastifyRequest) => boolean;
export const IS_LONG = 'x-is-long';

/** Requests of the route may last long, and an account has a limit of them. */
export function MayLast(isLong: IsLong): MethodDecorator {
  return SetMetadata(IS_LONG, isLong);
}

export const waitsForState: IsLong = ({ query }) => (query as { readonly waitFor?: unknown }).waitFor !== undefined;

/** Of the route that Fastify found: known before the body is read. Undefined for what does not say it, and where there is no route. */
export function demandOf({ routeOptions: { config } }: Pick<FastifyRequest, 'routeOptions'>): Demand | undefined {
  return (config as { readonly [DEMANDS]?: Demand } | undefined)?.[DEMANDS];
}

interface Sender {
  readonly caller: Caller;
  /** Another node sent it on, so that it is not forwarded a second time. */
  readonly wasForwarded: boolean;
}

const SENDERS = new WeakMap<FastifyRequest['raw'], Sender>();

/** For the guard, when it knows who calls. */
export function setSender({ raw }: Pick<FastifyRequest, 'raw'>, sender: Sender): void {
  SENDERS.set(raw, sender);
}

/** Who sent the request. */
export function callerOf(request: Pick<FastifyRequest, 'raw'>): Caller {
  return senderOf(request).caller;
}

export function senderOf({ raw }: Pick<FastifyRequest, 'raw'>): Sender {
  const sender = SENDERS.get(raw);
  if (sender === undefined) throw new InvariantViolation('a request came to a handler without its caller');
  return sender;
}
