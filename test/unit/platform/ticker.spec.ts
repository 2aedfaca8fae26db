import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Ticker } from '../../../src/platform/scheduling/ticker.js';
import { readableLog } from './log-lines.js';

const HOUR = 3_600_000;

/** A step that waits to be let through, and knows how many are inside. */
class Gate {
  entered = 0;
  mostAtOnce = 0;
  private inside = 0;
  private waiting: (() => void)[] = [];

  readonly pass = async (): Promise<void> => {
    this.entered += 1;
    this.inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.inside);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.inside -= 1;
  };

  open(): void {
    this.waiting.shift()?.();
  }
}

/** Lets timers and immediates that are due within so many ms run, and what follows from them. */
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('a ticker', () => {
  const { log, lines } = readableLog();
  const tickers: Ticker[] = [];
  let registry: SchedulerRegistry;
  const tickerOf = (run: () => Promise<void>, intervalMs: number, listedIn = registry): Ticker => {
    const ticker = new Ticker({ name: 'test', intervalMs, run, log, registry: listedIn });
    tickers.push(ticker);
    return ticker;
  };
  /** A ticker in the middle of its first run. */
  const inFlight = async (intervalMs: number): Promise<{ gate: Gate; ticker: Ticker }> => {
    const gate = new Gate();
    const ticker = tickerOf(gate.pass, intervalMs);
    ticker.start();
    await pass(0);
    return { gate, ticker };
  };
  beforeEach(() => {
    registry = new SchedulerRegistry();
    jest.useFakeTimers();
  });
  afterEach(async () => {
    await Promise.all(tickers.splice(0).map((ticker) => ticker.stop()));
    lines.splice(0);
    jest.useRealTimers();
  });

  it('runs at once when started, and again after each interval', async () => {
    let runs = 0;
    tickerOf(async () => void runs++, HOUR).start();
    await pass(0);
    expect(runs).toBe(1);
    await pass(HOUR - 1);
    expect(runs).toBe(1);
    await pass(1);
    expect(runs).toBe(2);
    await pass(HOUR);
    expect(runs).toBe(3);
  });

  it('never overlaps itself, however long a run takes', async () => {
    const { gate, ticker } = await inFlight(1);
    ticker.kick();
    await pass(HOUR);
    expect(gate.entered).toBe(1);
    gate.open();
    await pass(0);
    expect(gate.entered).toBe(2);
    gate.open();
    await pass(1);
    expect(gate.entered).toBe(3);
    expect(gate.mostAtOnce).toBe(1);
    const stopped = ticker.stop();
    gate.open();
    await stopped;
  });

  it('turns many kicks during a run into exactly one more run', async () => {
    const { gate, ticker } = await inFlight(HOUR);
    for (let i = 0; i < 50; i++) ticker.kick();
    gate.open();
    await pass(0);
    expect(gate.entered).toBe(2);
    gate.open();
    await pass(HOUR - 1);
    expect(gate.entered).toBe(2);
  });

  it('runs soon when kicked while it waits for a long interval, once for many kicks', async () => {
    let runs = 0;
    const ticker = tickerOf(async () => void runs++, HOUR);
    ticker.start();
    await pass(0);
    expect(runs).toBe(1);
    for (let i = 0; i < 50; i++) ticker.kick();
    expect(runs).toBe(1);
    await pass(0);
    expect(runs).toBe(2);
    await pass(HOUR - 1);
    expect(runs).toBe(2);
  });

  it('is stopped only when the run in flight has ended, and runs no more', async () => {
    const { gate, ticker } = await inFlight(1);
    ticker.kick();
    let stopped = false;
    const stopping = ticker.stop().then(() => (stopped = true));
    await pass(HOUR);
    expect(stopped).toBe(false);
    gate.open();
    await stopping;
    ticker.kick();
    ticker.start();
    await pass(HOUR);
    expect(gate.entered).toBe(1);
  });

  it('does nothing before it is started, and can be stopped before it ever ran', async () => {
    let runs = 0;
    const ticker = tickerOf(async () => void runs++, 1);
    ticker.kick();
    await pass(HOUR);
    await ticker.stop();
    const other = tickerOf(async () => void runs++, 1);
    other.start();
    await other.stop();
    await pass(HOUR);
    expect(runs).toBe(0);
  });

  it('logs and counts what a run throws, and goes on', async () => {
    let runs = 0;
    const ticker = tickerOf(() => {
      runs += 1;
      // Thrown before there is a promise, too.
      if (runs === 1) throw new Error('at once');
      if (runs === 2) return Promise.reject(new Error('later'));
      return Promise.resolve();
    }, 1);
    ticker.start();
    await pass(2);
    expect(runs).toBe(3);
    expect(ticker.failures).toBe(2);
    expect(lines).toMatchObject([
      { level: 'error', msg: 'ticker.failed', ticker: 'test', error: { message: 'at once' } },
      { msg: 'ticker.failed', error: { message: 'later' }, failures: 2 },
    ]);
  });

  it('is listed in the registry from its start to its stop, also while it runs', async () => {
    const gate = new Gate();
    const ticker = tickerOf(gate.pass, 1);
    expect(registry.getIntervals()).toEqual([]);
    ticker.start();
    expect(registry.getIntervals()).toEqual(['test']);
    await pass(0);
    expect(registry.getIntervals()).toEqual(['test']);
    ticker.kick();
    gate.open();
    await pass(0);
    gate.open();
    await pass(0);
    expect(registry.getIntervals()).toEqual(['test']);
    await pass(1);
    expect(gate.entered).toBe(3);
    const stopped = ticker.stop();
    expect(registry.getIntervals()).toEqual([]);
    gate.open();
    await stopped;
    await pass(HOUR);
    expect(registry.getIntervals()).toEqual([]);
    await expect(ticker.stop()).resolves.toBeUndefined();
  });

  it('runs only when kicked after its interval was deleted from the registry, while it ran', async () => {
    const { gate, ticker } = await inFlight(1);
    registry.deleteInterval('test');
    gate.open();
    await pass(HOUR);
    expect(gate.entered).toBe(1);
    ticker.kick();
    await pass(0);
    gate.open();
    await pass(HOUR);
    expect(gate.entered).toBe(2);
    expect(registry.getIntervals()).toEqual([]);
  });

  it('awaits the run in flight when it is stopped after the registry was emptied', async () => {
    const { gate, ticker } = await inFlight(1);
    registry.deleteInterval('test');
    let stopped = false;
    const stopping = ticker.stop().then(() => (stopped = true));
    await pass(HOUR);
    expect(stopped).toBe(false);
    gate.open();
    await stopping;
  });

  it('leaves its name to the next ticker when it stops, and does not delist that one', async () => {
    const runs: string[] = [];
    const first = tickerOf(async () => void runs.push('first'), HOUR);
    first.start();
    await first.stop();
    const second = tickerOf(async () => void runs.push('second'), HOUR);
    second.start();
    await first.stop();
    expect(registry.getIntervals()).toEqual(['test']);
    await pass(HOUR);
    expect(runs).toEqual(['second', 'second']);
  });

  it('does not delist another ticker that got its name while it ran on', async () => {
    const first = tickerOf(async () => undefined, HOUR);
    first.start();
    registry.deleteInterval('test');
    tickerOf(async () => undefined, HOUR).start();
    await first.stop();
    expect(registry.getIntervals()).toEqual(['test']);
  });

  it('does not start where another ticker has its name, and has the same name in another application', async () => {
    const runs: string[] = [];
    tickerOf(async () => void runs.push('first'), HOUR).start();
    const second = tickerOf(async () => void runs.push('second'), 1);
    expect(() => second.start()).toThrow('test');
    tickerOf(async () => void runs.push('elsewhere'), HOUR, new SchedulerRegistry()).start();
    await pass(HOUR - 1);
    expect(runs).toEqual(['first', 'elsewhere']);
  });
});
