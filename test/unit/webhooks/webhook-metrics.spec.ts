import { expect, it } from '@jest/globals';
import { WebhookMetrics } from '../../../src/modules/webhooks/application/webhook-metrics.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { FakeQueue } from './delivery-fakes.js';

it('deliveries are counted by endpoint, and those that are deleted are forgotten', async () => {
  const [shown, queue, clock] = [new FakeMetrics(), new FakeQueue(), new FakeClock()];
  const metrics = new WebhookMetrics(shown, queue, clock);
  queue.endpoints = ['kept', 'deleted'];
  metrics.recorded('kept', 'delivered');
  metrics.recorded('deleted', 'waiting');
  const [kept, deleted] = ['kept",outcome="delivered', 'deleted",outcome="failed'].map(
    (labels) => `webhook_deliveries_total{endpoint="${labels}"} 1`,
  );
  expect(await shown.lines('webhook_deliveries')).toEqual([kept, deleted]);
  expect(await shown.lines('webhook_backlog')).toEqual(
    ['kept', 'deleted'].map((id) => `webhook_backlog{endpoint="${id}"} 0`),
  );
  queue.endpoints = ['kept'];
  clock.advance(2_000);
  expect(await shown.lines('webhook_deliveries')).toEqual([kept]);
  expect(await shown.lines('webhook_backlog')).toEqual(['webhook_backlog{endpoint="kept"} 0']);
});

it('a scrape waits a second for a database that hangs, and shows what was known last', async () => {
  const [shown, queue, clock] = [new FakeMetrics(), new FakeQueue(), new FakeClock()];
  const metrics = new WebhookMetrics(shown, queue, clock);
  queue.endpoints = ['one'];
  metrics.recorded('one', 'delivered');
  const known = await shown.lines('webhook_');
  queue.backlog = () => new Promise(() => undefined);
  clock.advance(2_000);
  const begunAt = performance.now();
  expect(await shown.lines('webhook_')).toEqual(known);
  expect(performance.now() - begunAt).toBeLessThan(3_000);
});
