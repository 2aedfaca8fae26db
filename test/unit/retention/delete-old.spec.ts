import { describe, expect, it } from '@jest/globals';
import { DeleteOld } from '../../../src/modules/retention/application/delete-old.js';
import { type DeletedBatch, OldEvents } from '../../../src/modules/retention/domain/old-rows.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const DAY_MS = 86_400_000;
const OLDEST = new Date('2026-01-01T00:00:00Z');
const running = (): boolean => false;

/** Rows of one kind, of which each batch passes one. */
class FakeRows extends OldEvents {
  override readonly beginning = '0';
  readonly asked: string[] = [];
  left = 0;
  isBusy = false;
  oldestReads = 0;
  onBatch: () => void = () => undefined;

  constructor(override readonly keepMs = Infinity) {
    super();
  }

  async deleteBehind(place: string): Promise<DeletedBatch | null> {
    this.asked.push(place);
    this.onBatch();
    if (this.isBusy) return null;
    this.left -= 1;
    return { next: String(Number(place) + 1), hasMore: this.left > 0, deleted: { some_table: 2 } };
  }

  async oldestAt(): Promise<Date> {
    this.oldestReads += 1;
    return OLDEST;
  }
}

function setUp(retention: { readonly txs?: number; readonly events?: number; readonly entries?: number } = {}) {
  const [txs, events, entries] = [retention.txs, retention.events, retention.entries].map((ms) => new FakeRows(ms));
  const [metrics, clock] = [new FakeMetrics(), new FakeClock()];
  if (!txs || !events || !entries) throw new Error('not three kinds');
  const deleteOld = new DeleteOld(txs, events, entries, clock, metrics);
  return { txs, events, entries, metrics, clock, deleteOld };
}

describe('a run of the retention', () => {
  it('reads and deletes nothing with the defaults of the config', async () => {
    const { txs, events, metrics, deleteOld } = setUp();
    await deleteOld.execute(running);
    expect({ txs: txs.asked, events: events.asked, reads: events.oldestReads }).toEqual({
      txs: [],
      events: [],
      reads: 0,
    });
    expect(await metrics.lines('events_oldest')).toEqual(['events_oldest_age_seconds 0']);
  });

  it('deletes batch by batch until nothing is left, and tells the metrics', async () => {
    const { txs, events, metrics, clock, deleteOld } = setUp({ events: DAY_MS });
    events.left = 3;
    await deleteOld.execute(running);
    expect(txs.asked).toEqual([]);
    expect(events.asked).toEqual(['0', '1', '2']);
    expect(metrics.counted('retention_deleted_rows_total')).toEqual({ some_table: 6 });
    const age = (clock.now().getTime() - OLDEST.getTime()) / 1_000;
    expect(await metrics.lines('events_oldest')).toEqual([`events_oldest_age_seconds ${age}`]);
  });

  it('deletes of each kind that is not kept for ever', async () => {
    const { txs, events, entries, deleteOld } = setUp({ entries: 30 * DAY_MS });
    await deleteOld.execute(running);
    expect([txs.asked, events.asked, entries.asked]).toEqual([[], [], ['0']]);
  });

  it('goes on in the next run where the last one ended', async () => {
    const { events, deleteOld } = setUp({ events: DAY_MS });
    await deleteOld.execute(running);
    await deleteOld.execute(running);
    expect(events.asked).toEqual(['0', '1']);
  });

  it('ends while another node deletes rows of the kind', async () => {
    const { txs, events, metrics, deleteOld } = setUp({ txs: DAY_MS, events: DAY_MS });
    txs.isBusy = true;
    await deleteOld.execute(running);
    expect({
      txs: txs.asked.length,
      events: events.asked.length,
      counted: metrics.values('retention_deleted_rows_total').length,
    }).toEqual({
      txs: 1,
      events: 1,
      counted: 1,
    });
  });

  it('ends when its time is used up, and leaves the same time to the other kind', async () => {
    const { txs, events, clock, deleteOld } = setUp({ txs: DAY_MS, events: DAY_MS });
    [txs.left, events.left] = [1_000, 1_000];
    txs.onBatch = () => txs.asked.length === 2 && clock.advance(20_000);
    events.onBatch = () => events.asked.length === 3 && clock.advance(20_000);
    await deleteOld.execute(running);
    expect([txs.asked.length, events.asked.length]).toEqual([2, 3]);
  });

  it('deletes one kind although the database gave up a batch of the other, and says so', async () => {
    const { txs, events, deleteOld } = setUp({ txs: DAY_MS, events: DAY_MS });
    const failure = new Error('canceling statement due to statement timeout');
    txs.onBatch = () => {
      throw failure;
    };
    await expect(deleteOld.execute(running)).rejects.toBe(failure);
    expect(events.asked.length).toBe(1);
  });

  it('ends after the batch in flight when the process is about to end', async () => {
    const { events, deleteOld } = setUp({ events: DAY_MS });
    events.left = 1_000;
    await deleteOld.execute(() => events.asked.length === 2);
    expect(events.asked.length).toBe(2);
  });
});
