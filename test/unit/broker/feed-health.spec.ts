import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublishFailed } from '../../../src/sinks/event-sink.js';
import { FeedLab } from './feed-lab.js';

let lab: FeedLab;
beforeEach(() => {
  lab = new FeedLab();
});

describe('after the broker refused an event', () => {
  beforeEach(async () => {
    await lab.started(1, 1, 2, 1);
    lab.sink.refuses = '3.1';
    await lab.feed.execute();
  });

  it('nothing is tried before a rest, which doubles up to half a minute', async () => {
    const rests: number[] = [];
    for (let failures = 1; failures <= 7; failures += 1) {
      let rest = 0;
      for (; lab.health.isResting; rest += 500) {
        await lab.hold.execute();
        await lab.feed.execute();
        lab.clock.advance(500);
      }
      rests.push(rest);
      await lab.hold.execute();
      await lab.feed.execute();
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(lab.metrics.values('broker_failures_total').length).toBe(8);
  });
  it('nothing is published during the rest, also when the claim came back by a renewal that was under way', async () => {
    await lab.claim.take();
    await lab.feed.execute();
    expect(lab.sink.batches).toEqual([5]);
  });

  it('the log has one line when it begins, one for another reason, and one when it ends', async () => {
    const retry = async (refuses: string | null): Promise<void> => {
      lab.clock.advance(60_000);
      lab.sink.refuses = refuses;
      await lab.hold.execute();
      await lab.feed.execute();
    };
    for (const refuses of ['3.1', '3.1', '4', '4', null, null]) await retry(refuses);
    expect(lab.log.lines.map(({ event }) => event)).toEqual([
      'broker takes no events',
      'broker takes no events',
      'broker takes events',
    ]);
  });
});

it('an outage is one line, however it is seen', () => {
  const failed = (code: PublishFailed['code'], message: string): void =>
    lab.health.failed(new PublishFailed(code, message, ''), false);
  failed('broker_unreachable', 'the stream did not answer');
  failed('broker_unreachable', 'no connection');
  failed('broker_refused', 'no credentials');
  failed('broker_unreachable', 'no connection');
  expect(lab.log.lines.map(({ fields }) => fields['problem'])).toEqual([
    'the stream did not answer',
    'no credentials',
    'no connection',
  ]);
});
