import { beforeEach, expect, it } from '@jest/globals';
import { RecordDeliveries, type Outcome } from '../../../src/modules/webhooks/application/record-deliveries.js';
import { WebhookMetrics } from '../../../src/modules/webhooks/application/webhook-metrics.js';
import { gate } from '../../support/gate.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { Named } from '../../support/fakes/fake-node.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { readableLog } from '../platform/log-lines.js';
import { aClaimed, FakeQueue } from './delivery-fakes.js';
import { anEndpoint, FakeEndpoints } from './webhook-fakes.js';

let queue: FakeQueue;
let endpoints: FakeEndpoints;
let metrics: FakeMetrics;
let results: RecordDeliveries;

beforeEach(async () => {
  [queue, endpoints, metrics] = [new FakeQueue(), new FakeEndpoints(), new FakeMetrics()];
  await endpoints.add({ ...anEndpoint({ id: 'one' }), secret: 's' });
  const counted = new WebhookMetrics(metrics, queue, new FakeClock());
  results = new RecordDeliveries(queue, endpoints, counted, new Named('node'), readableLog().log);
});

const result = (seq: number, more: Partial<Outcome> = {}): Outcome => ({
  ...aClaimed(seq),
  outcome: 'delivered',
  waitMs: 0,
  answerStatus: 200,
  answerBody: '',
  error: null,
  wasFailing: false,
  durationMs: 500,
  ...more,
});
const seqs = () => queue.batches.map((batch) => batch.map(({ position }) => Number(position.seq)));

it('stores together what comes while the results before are written', async () => {
  const writing = gate();
  queue.onRecord = () => writing.opened;
  let recorded = 0;
  results.whenRecorded(() => (recorded += 1));
  results.execute(result(1));
  results.execute(result(2));
  while (queue.batches.length === 0) await new Promise(setImmediate);
  results.execute(result(3));
  results.execute(result(4));
  writing.open();
  await results.idle();
  expect(seqs()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(recorded).toBe(2);
  expect(metrics.counted('webhook_deliveries_total')).toEqual({ 'one delivered': 4 });
  expect(metrics.values('webhook_seconds')).toEqual([0.5, 0.5, 0.5, 0.5]);
});

it('goes on after a batch that could not be stored', async () => {
  queue.onRecord = () => Promise.reject(new Error('no database'));
  results.execute(result(1));
  await results.idle();
  queue.onRecord = async () => undefined;
  results.execute(result(2));
  await results.idle();
  expect(seqs()).toEqual([[1], [2]]);
});

it('notes that an endpoint fails, and that it is well again, only when that changes', async () => {
  const noted: boolean[] = [];
  const setFailing = endpoints.setFailing.bind(endpoints);
  endpoints.setFailing = (id, isFailing) => {
    noted.push(isFailing);
    return setFailing(id, isFailing);
  };
  const batch = async (...outcomes: Outcome[]): Promise<void> => {
    for (const one of outcomes) results.execute(one);
    await results.idle();
  };
  await batch(result(1));
  await batch(result(2, { outcome: 'failed' }), result(3, { outcome: 'failed' }));
  await batch(result(4, { outcome: 'failed', wasFailing: true }));
  await batch(result(5, { outcome: 'failed', wasFailing: true }), result(6, { wasFailing: true }));
  expect(noted).toEqual([true, false]);
  await batch(result(7, { outcome: 'failed' }), result(8));
  expect(noted).toEqual([true, false]);
});

it('disables an endpoint that is gone', async () => {
  results.execute(result(1, { outcome: 'gone' }));
  await results.idle();
  expect((await endpoints.find('one'))?.disabled?.reason).toBe('the receiver answered 410');
});
