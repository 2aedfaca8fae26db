import { describe, expect, it } from '@jest/globals';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { gate } from '../../support/gate.js';
import { RecordingLog } from '../chain/chain-fixture.js';

describe('a shutdown', () => {
  it('has all work end at once, and goes on when the last of it has ended', async () => {
    const done: string[] = [];
    const tickers = tickersWith(new RecordingLog());
    const work = gate();
    tickers.afterWork(() => done.push('released'));
    tickers.onShutdown(async () => {
      await work.opened;
      done.push('slow work ended');
    });
    tickers.onShutdown(() => done.push('quick work ended'));
    const ended = tickers.shutDown();
    expect(done).toEqual(['quick work ended']);
    work.open();
    await ended;
    expect(done).toEqual(['quick work ended', 'slow work ended', 'released']);
  });

  it('waits for all other work where some failed, does the rest, and says so', async () => {
    const done: string[] = [];
    const log = new RecordingLog();
    const tickers = tickersWith(log);
    const error = new Error('no database');
    const work = gate();
    tickers.onShutdown(() => Promise.reject(error));
    tickers.onShutdown(() => {
      throw error;
    });
    tickers.onShutdown(async () => {
      await work.opened;
      done.push('work ended');
    });
    tickers.afterWork(() => Promise.reject(error));
    tickers.afterWork(() => done.push('released'));
    const ended = tickers.shutDown();
    work.open();
    await ended;
    expect(done).toEqual(['work ended', 'released']);
    expect(log.lines).toHaveLength(3);
    expect(log.lines).toMatchObject(
      log.lines.map(() => ({ event: 'failed to end work at a shutdown', fields: { error } })),
    );
  });
});
