import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { RoleGuard } from '../../../src/platform/http/role-guard.js';

function passes(role: NodeConfig['role'], url: string): boolean {
  const guard = new RoleGuard(Object.assign(new NodeConfig(), { role }));
  return guard.canActivate({ switchToHttp: () => ({ getRequest: () => ({ url }) }) } as unknown as ExecutionContext);
}

describe('a node that only acts for signers', () => {
  it('has no API', () => {
    for (const url of ['/api/v1/tx', '/api/v1/signers?limit=1'])
      expect(() => passes('worker', url)).toThrow(
        expect.objectContaining({ kind: 'not_found', code: 'route_not_found' }),
      );
  });

  it('has its probes and its metrics', () => {
    for (const url of ['/health/ready', '/metrics', '/docs/api/']) expect(passes('worker', url)).toBe(true);
  });
});

it.each(['api', 'all'] as const)('a node of role %s has everything', (role) => {
  for (const url of ['/api/v1/tx', '/health/ready']) expect(passes(role, url)).toBe(true);
});
