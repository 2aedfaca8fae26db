import { expect, it } from '@jest/globals';
import type { HealthCheckService } from '@nestjs/terminus';
import { HealthController } from '../../../src/modules/ops/infrastructure/http/health.controller.js';
import { ReadinessProbes } from '../../../src/modules/ops/infrastructure/readiness-probes.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

it('HealthController asks every probe whether the node is ready, and none whether it is alive', async () => {
  const asked: unknown[] = [];
  const probes = [async () => ({ database: { status: 'up' as const } })];
  const controller = new HealthController(
    { check: async (all: unknown) => (asked.push(all), { status: 'ok' }) } as unknown as HealthCheckService,
    fakeOf(ReadinessProbes, { all: () => probes }),
  );
  expect([controller.live(), asked]).toEqual([{ status: 'ok' }, []]);
  expect(await controller.ready()).toEqual({ status: 'ok' });
  expect(asked).toEqual([probes]);
});
