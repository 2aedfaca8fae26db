import { request, type IncomingHttpHeaders } from 'node:http';
import {
  Body,
  Controller,
  type ExecutionContext,
  Get,
  Global,
  HttpCode,
  HttpException,
  Module,
  type ModuleMetadata,
  NotFoundException,
  Param,
  Post,
  Query,
  ServiceUnavailableException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateNested } from 'class-validator';
import { ConfigModule, LockstepConfig, ServerConfig } from '../../../src/config/index.js';
import {
  Conflict,
  InvariantViolation,
  NotFound,
  TooMany,
  Unavailable,
  Unprocessable,
} from '../../../src/kernel/errors.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import { createFastifyAdapter } from '../../../src/platform/http/fastify-server.js';
import { HttpModule } from '../../../src/platform/http/http.module.js';
import { setSender } from '../../../src/platform/http/scope.js';
import { IsAddressText, IsHexBytes, IsQuantity } from '../../../src/platform/http/validators.js';
import { Log, type LogFields } from '../../../src/platform/logging/log.js';
import { NestLogger } from '../../../src/platform/logging/nest-logger.js';
import { MetricsModule } from '../../../src/platform/metrics/metrics.module.js';
import { readableLog } from './log-lines.js';

class PayloadDto {
  @IsOptional()
  @IsAddressText()
  to?: string;

  @IsOptional()
  @IsQuantity()
  value?: string | number;

  @IsOptional()
  @IsHexBytes({ maxBytes: 16 })
  data?: string;
}

class CreateDto {
  @IsString()
  requestId!: string;

  @ValidateNested()
  @Type(() => PayloadDto)
  payload!: PayloadDto;
}

class PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @IsOptional()
  @IsIn(['PENDING', 'MINED'])
  state?: string;
}

const FAULTS: Readonly<Record<string, () => Error>> = {
  conflict: () => new Conflict('idempotency_conflict', 'other body', 'use another requestId', { nonce: 2n ** 60n }),
  missing: () => new NotFound('tx_not_found', 'no such tx', 'check the id', { txId: '1' }),
  refused: () => new Unprocessable('signer_unknown', 'no such signer', 'configure it'),
  busy: () => new Unavailable('intake_full', 'too much is waiting', 'try again'),
  crowded: () => new TooMany('too_many_waiters', 'too many wait', 'ask later', { maxWaiters: 2 }),
  elsewhere: () => Object.assign(new Conflict('not_leader', 'another acts', 'ask it'), { retryAfterSeconds: 7 }),
  invariant: () => new InvariantViolation('two payloads on slot 7', { slot: 7 }),
  bug: () => new TypeError('cannot read secret-internals of undefined'),
  throttled: () => new HttpException('too fast', 429),
  nest: () => new NotFoundException('not in this list'),
  health: () => new ServiceUnavailableException({ status: 'error', details: { database: { status: 'down' } } }),
  pretender: () => Object.assign(new Error('secret-internals'), { statusCode: 502 }),
};

@Controller('api/v1/things')
class ThingsController {
  @Post()
  @HttpCode(202)
  create(@Body() body: CreateDto): object {
    return { created: body.requestId, isDto: body instanceof CreateDto };
  }

  @Post('batch')
  createMany(): object {
    return {};
  }

  @Get()
  list(@Query() page: PageDto): object {
    return { limit: page.limit };
  }

  @Get('fault/:name')
  fault(@Param('name') name: string): never {
    throw FAULTS[name]?.() ?? new Error('no such fault');
  }

  @Get(':id')
  read(@Param('id') id: string): object {
    return { id };
  }
}

/** In place of the guard of the service: a header says which request came from another node. */
function letAllPass(context: ExecutionContext): boolean {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  setSender(request, { caller: ANYONE, wasForwarded: 'x-lockstep-forwarded-by' in request.headers });
  return true;
}

export interface HttpApp {
  readonly app: NestFastifyApplication;
  readonly port: number;
  readonly lines: LogFields[];
}

/** A small app with everything of platform/http switched on, for these controllers and what they ask. */
export async function startHttpApp(
  parts: Pick<ModuleMetadata, 'controllers' | 'providers'> = { controllers: [ThingsController] },
  bodyLimit = 2048,
  server: Partial<ServerConfig> = {},
): Promise<HttpApp> {
  const { log, lines } = readableLog();

  @Global()
  @Module({ providers: [{ provide: Log, useValue: log }], exports: [Log] })
  class TestLogModule {}

  @Module({
    imports: [ConfigModule.register(new LockstepConfig()), TestLogModule, HttpModule, MetricsModule],
    ...parts,
  })
  class TestAppModule {}

  const config = Object.assign(new ServerConfig(), { bodyLimit }, server);
  const adapter = createFastifyAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(TestAppModule, adapter, {
    logger: new NestLogger(log),
    abortOnError: false,
  });
  app.useGlobalGuards({ canActivate: letAllPass });
  await app.listen(0, '127.0.0.1');
  await adapter.listenOps(config);
  const address: unknown = app.getHttpServer().address();
  const port = typeof address === 'object' && address !== null && 'port' in address ? Number(address.port) : 0;
  return { app, port, lines };
}

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';
  readonly url?: string;
  /** Text goes as it is, anything else as JSON. */
  readonly payload?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A real request: Fastify's `inject` cannot be loaded inside Jest's VM on Node 20 (it requires an ES module). */
export function send(port: number, { method = 'GET', url = '/', payload, headers = {} }: Sent): Promise<Answer> {
  const json = typeof payload === 'object';
  const body = json ? JSON.stringify(payload) : (payload ?? '');
  const type = json ? { 'content-type': 'application/json' } : {};
  const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path: url, agent: false, headers: { ...type, ...length, ...headers } },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
