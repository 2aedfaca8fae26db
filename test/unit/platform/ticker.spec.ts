import { afterEach, describe, expect, it } from '@jest/globals';
import { Ticker } from '../../../src/platform/scheduling/ticker.js';
import { readableLog } from './log-lines.js';

const HOUR = 3_600_000;

/** A step that waits to be let through, and knows how many are inside. */
class Gate {
  entered = 0;
  mostAtOnce = 0;
  private inside = 0;
  private waiting: (() => void)[] = [];
  private watchers: { count: number; resolve: () => void }[] = [];

  readonly pass = async (): Promise<void> => {
    this.entered += 1;
    this.inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.inside);
    for (const { count, resolve } of this.watchers) if (this.entered >= count) resolve();
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.inside -= 1;
  };

  open(): void {
    this.waiting.shift()?.();
  }

  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.entered >= count) resolve();
      else this.watchers.push({ count, resolve });
    });
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a ticker', () => {
  const { log, lines } = readableLog();
  const tickers: Ticker[] = [];
  const tickerOf = (run: () => Promise<void>, intervalMs: number): Ticker => {
    const ticker = new Ticker({ name: 'test', intervalMs, run, log });
    tickers.push(ticker);
    return ticker;
  };
  /** A ticker in the middle of its first run. */
  const inFlight = async (intervalMs: number): Promise<{ gate: Gate; ticker: Ticker }> => {
    const gate = new Gate();
    const ticker = tickerOf(gate.pass, intervalMs);
    ticker.start();
    await gate.reached(1);
    return { gate, ticker };
  };
  afterEach(async () => {
    await Promise.all(tickers.splice(0).map((ticker) => ticker.stop()));
    lines.splice(0);
  });

  it('runs at once when started, and again after each interval', async () => {
    let runs = 0;
    const third = new Promise<void>((resolve) => {
      const run = async (): Promise<void> => {
        if (++runs === 3) resolve();
      };
      tickerOf(run, 2).start();
    });
    await third;
  });

  it('never overlaps itself, however long a run takes', async () => {
    const { gate, ticker } = await inFlight(1);
    ticker.kick();
    await pause(20);
    expect(gate.entered).toBe(1);
    gate.open();
    await gate.reached(2);
    expect(gate.mostAtOnce).toBe(1);
    gate.open();
    await gate.reached(3);
    const stopped = ticker.stop();
    gate.open();
    await stopped;
    expect(gate.mostAtOnce).toBe(1);
  });

  it('turns many kicks during a run into exactly one more run', async () => {
    const { gate, ticker } = await inFlight(HOUR);
    for (let i = 0; i < 50; i++) ticker.kick();
    gate.open();
    await gate.reached(2);
    gate.open();
    await pause(20);
    expect(gate.entered).toBe(2);
  });

  it('runs soon when kicked while it waits for a long interval, once for many kicks', async () => {
    let runs = 0;
    const ticker = tickerOf(async () => void runs++, HOUR);
    ticker.start();
    await pause(5);
    expect(runs).toBe(1);
    for (let i = 0; i < 50; i++) ticker.kick();
    expect(runs).toBe(1);
    await pause(5);
    expect(runs).toBe(2);
  });

  it('is stopped only when the run in flight has ended, and runs no more', async () => {
    const { gate, ticker } = await inFlight(1);
    ticker.kick();
    let stopped = false;
    const stopping = ticker.stop().then(() => (stopped = true));
    await pause(10);
    expect(stopped).toBe(false);
    gate.open();
    await stopping;
    ticker.kick();
    ticker.start();
    await pause(10);
    expect(gate.entered).toBe(1);
  });

  it('does nothing before it is started, and can be stopped before it ever ran', async () => {
    let runs = 0;
    const ticker = tickerOf(async () => void runs++, 1);
    ticker.kick();
    await pause(5);
    await ticker.stop();
    const other = tickerOf(async () => void runs++, 1);
    other.start();
    await other.stop();
    await pause(5);
    expect(runs).toBe(0);
  });

  it('logs and counts what a run throws, and goes on', async () => {
    let runs = 0;
    let goneOn = (): void => undefined;
    const third = new Promise<void>((resolve) => (goneOn = resolve));
    const ticker = tickerOf(() => {
      runs += 1;
      // Thrown before there is a promise, too.
      if (runs === 1) throw new Error('at once');
      if (runs === 2) return Promise.reject(new Error('later'));
      goneOn();
      return Promise.resolve();
    }, 1);
    ticker.start();
    await third;
    expect(ticker.failures).toBe(2);
    expect(lines).toMatchObject([
      { level: 'error', msg: 'ticker.failed', ticker: 'test', error: { message: 'at once' } },
      { msg: 'ticker.failed', error: { message: 'later' }, failures: 2 },
    ]);
  });
});
