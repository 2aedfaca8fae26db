import { Controller, Get } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { RoleGuard } from '../../../src/platform/http/role-guard.js';
import { type HttpApp, send, startHttpApp } from './http-app.js';

@Controller('api/v1/tx')
class ApiController {
  @Get()
  list(): object {
    return {};
  }
}

@Controller('health/ready')
class ProbeController {
  @Get()
  ready(): object {
    return {};
  }
}

let http: HttpApp;
afterEach(() => http.app.close());

async function statusOf(role: NodeConfig['role'], url: string): Promise<number> {
  http = await startHttpApp({
    controllers: [ApiController, ProbeController],
    providers: [
      { provide: NodeConfig, useValue: Object.assign(new NodeConfig(), { role }) },
      { provide: APP_GUARD, useClass: RoleGuard },
    ],
  });
  return (await send(http.port, { url })).status;
}

describe('a node that only acts for signers', () => {
  it.each(['/api/v1/tx', '/api/v1/tx?limit=1', '/%61pi/v1/tx', 'http://node/api/v1/tx'])(
    'has no API, written %s',
    async (url) => expect(await statusOf('worker', url)).toBe(404),
  );

  it.each(['/health/ready', '/metrics'])('has %s', async (url) => expect(await statusOf('worker', url)).toBe(200));
});

it.each(['api', 'all'] as const)('a node of role %s has everything', async (role) => {
  expect(await statusOf(role, '/api/v1/tx')).toBe(200);
});
