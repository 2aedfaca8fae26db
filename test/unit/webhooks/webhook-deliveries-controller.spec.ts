import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AuditLog } from '../../../src/kernel/audit-log.js';
import { EventBell } from '../../../src/modules/events/index.js';
import { ReplayRange } from '../../../src/modules/webhooks/application/replay-range.js';
import { DeliveryLog } from '../../../src/modules/webhooks/domain/delivery-log.js';
import { WebhookEndpoints } from '../../../src/modules/webhooks/domain/webhook-endpoints.js';
import { WebhookDeliveriesController } from '../../../src/modules/webhooks/infrastructure/http/webhook-deliveries.controller.js';
import { until } from '../../support/until.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';
import { anEndpoint, FakeEndpoints } from './webhook-fakes.js';

const IDS = [1, 2, 3].map((n) => `01900000-0000-7000-8000-00000000000${n}`);
const endpoints = new FakeEndpoints();
const running: (() => void)[] = [];

let http: HttpApp;

beforeAll(async () => {
  for (const id of IDS) await endpoints.add({ ...anEndpoint({ id }), secret: 'x' });
  const replay = () =>
    new Promise((resolve) => running.push(() => resolve({ replayed: 0, hasMore: false, next: null })));
  const providers = [
    { provide: WebhookEndpoints, useValue: endpoints },
    { provide: DeliveryLog, useValue: { replayDead: async () => 0 } },
    { provide: ReplayRange, useValue: { execute: replay } },
    { provide: AuditLog, useValue: { record: async () => undefined } },
    { provide: EventBell, useValue: { ring: () => undefined } },
  ];
  http = await startHttpApp({ controllers: [WebhookDeliveriesController], providers });
});
afterAll(() => http.app.close());

it('one replay of an endpoint runs at a time, and two in all: they hold connections of the database', async () => {
  const replay = async (n: number, payload: object = { since: '2026-11-21' }) => {
    const { status, text } = await send(http.port, {
      method: 'POST',
      url: `/api/v1/webhooks/${IDS[n]}/replay`,
      payload,
    });
    return [status, (JSON.parse(text) as { code?: string }).code];
  };
  const first = replay(0);
  await until('it runs', async () => running.length === 1);
  expect(await replay(0, { status: 'dead' })).toEqual([429, 'too_many_replays']);
  const second = replay(1);
  await until('both run', async () => running.length === 2);
  expect(await replay(2)).toEqual([429, 'too_many_replays']);
  for (const end of running) end();
  expect([await first, await second]).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  expect(await replay(0, { status: 'dead' })).toEqual([200, undefined]);
});
