import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { METRICS } from '../../../src/platform/metrics/metric-table.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const LIST = new URL('../../data/metrics.txt', import.meta.url);

it('names, kinds, labels, buckets and helps of all metrics are those that dashboards know', () => {
  const lines = Object.entries(METRICS).map(([name, { type, help, labels, ...rest }]) => {
    const buckets = 'buckets' in rest ? ` [${rest.buckets.join()}]` : '';
    return `${type} ${name}{${labels.join()}}${buckets}: ${help}\n`;
  });
  expect(lines.sort().join('')).toBe(readFileSync(LIST, 'utf8'));
});

it('every metric of the table is shown from the start, with its kind and its help', async () => {
  const registry = new Registry();
  new FakeMetrics(registry);
  const text = await registry.metrics();
  for (const [name, { type, help }] of Object.entries(METRICS))
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
});

it('what is counted, observed and set is shown under its own name, with its labels', async () => {
  const metrics = new FakeMetrics();
  metrics.count('tx_create_total', 2, { result: 'created' });
  metrics.count('tx_create_total', 1, { result: 'created' });
  metrics.count('confirmations_newFork_total', 0);
  metrics.observe('webhook_seconds', 0.5);
  metrics.set('worker_queue_depth', 4, { chain: 7 });
  metrics.set('worker_queue_depth', 3, { chain: 7 });
  expect(await metrics.lines('tx_create')).toEqual(['tx_create_total{result="created"} 3']);
  expect(await metrics.lines('confirmations')).toEqual(['confirmations_newFork_total 0']);
  expect(await metrics.lines('webhook_seconds_sum')).toEqual(['webhook_seconds_sum 0.5']);
  expect(await metrics.lines('worker_queue_depth')).toEqual(['worker_queue_depth{chain="7"} 3']);
});

it('the values of signers are sums of their chain where signers are no labels', async () => {
  for (const [signerLabels, lines] of [
    [true, ['signer_backlog{chain="7",signer="a"} 1', 'signer_backlog{chain="7",signer="b"} 2']],
    [false, ['signer_backlog{chain="7"} 3']],
  ] as const) {
    const metrics = new FakeMetrics(new Registry(), { signerLabels });
    metrics.add('signer_backlog', 1, { chain: 7, signer: 'a' });
    metrics.add('signer_backlog', 2, { chain: 7, signer: 'b' });
    expect(await metrics.lines('signer_backlog')).toEqual(lines);
  }
});

it('nothing of the broker is shown where none is configured', async () => {
  const metrics = new FakeMetrics(new Registry(), {}, false);
  metrics.set('broker_connected', 1);
  expect(await metrics.lines('broker')).toEqual([]);
});

it('a collector runs before each scrape, and what is forgotten or cleared is not shown any more', async () => {
  const metrics = new FakeMetrics();
  let scrapes = 0;
  metrics.onScrape('event_streams', () => metrics.set('event_streams', (scrapes += 1)));
  expect([await metrics.lines('event_streams '), await metrics.lines('event_streams ')]).toEqual([
    ['event_streams 1'],
    ['event_streams 2'],
  ]);
  const deleted = { endpoint: 'one', outcome: 'dead' };
  metrics.count('webhook_deliveries_total', 1, deleted);
  metrics.forget('webhook_deliveries_total', deleted);
  metrics.set('webhook_failing', 1, { endpoint: 'one' });
  metrics.clear('webhook_failing');
  expect([await metrics.lines('webhook_deliveries'), await metrics.lines('webhook_failing')]).toEqual([[], []]);
});
