import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BrokerFeeder } from '../../../src/modules/broker/infrastructure/broker-feeder.js';
import { SilentEventBell } from '../../support/fakes/silent-event-bell.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { until } from '../../support/until.js';
import { FeedLab } from './feed-lab.js';

let lab: FeedLab;
let feeder: BrokerFeeder;

beforeEach(async () => {
  lab = new FeedLab();
  lab.reader.add(1);
  const { hold, feed, claim, sink, log } = lab;
  feeder = new BrokerFeeder(hold, feed, claim, sink, new SilentEventBell(), log, tickersWith(log));
  feeder.onApplicationBootstrap();
  await until('its events are published', async () => lab.sink.got.length > 0);
});
afterEach(() => feeder.onModuleDestroy());

describe('a node that ends', () => {
  it('keeps its claim until its sink is closed: another node begins when this one publishes no more', async () => {
    let claimedBy: string | null = null;
    lab.sink.close = async () => void (claimedBy = lab.cursor.claimedBy);
    await feeder.onModuleDestroy();
    expect([claimedBy, lab.cursor.claimedBy]).toEqual(['first', null]);
  });

  it('ends although its claim cannot be released', async () => {
    lab.cursor.release = () => Promise.reject(new Error('the database is away'));
    await expect(feeder.onModuleDestroy()).resolves.toBeUndefined();
  });
});
