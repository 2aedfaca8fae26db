import { beforeEach, describe, expect, it } from '@jest/globals';
import { InFlightWindow } from '../../../src/modules/ledger/domain/in-flight-window.js';

const [START, MAX] = [64, 1_000];

let window: InFlightWindow;
let [block, nowMs] = [0, 0];

beforeEach(() => {
  [window, block, nowMs] = [new InFlightWindow(START), 0, 0];
});

/** The next block, that takes so many of what is in flight: all that may be, unless told. A pool had all of them in time, unless told. */
function takes(count: number, now: { inFlight?: number; left?: number; afterMs?: number } = {}): number {
  const { inFlight = window.limit, left = inFlight - count, afterMs = 1_000 } = now;
  nowMs += afterMs;
  block += 1;
  window.mined({ block, count, inFlight, left }, nowMs, MAX);
  return window.limit;
}

const takesAll = (): number => takes(window.limit);
const times = <Value>(count: number, each: () => Value): Value[] => Array.from({ length: count }, each);

describe('a window', () => {
  it('doubles with each block that takes all: three blocks to 512, and up to the most', () => {
    expect(times(5, takesAll)).toEqual([128, 256, 512, MAX, MAX]);
  });

  it('grows when a block takes nine tenths, and not below', () => {
    expect(takes(57)).toBe(START);
    expect(takes(58)).toBe(2 * START);
  });

  it('grows once for a block, in however many parts it is recorded', () => {
    for (const count of [40, 20, 4]) window.mined({ block: 1, count, inFlight: START, left: 0 }, 0, MAX);
    expect(window.limit).toBe(2 * START);
  });

  it('does not grow while less is in flight than may be: nothing was tried', () => {
    expect(takes(57, { inFlight: 57 })).toBe(START);
    expect(takes(58, { inFlight: 58 })).toBe(2 * START);
  });

  it('halves when a block takes under half, and not below the start', () => {
    times(3, takesAll);
    expect([takes(256), takes(255), takes(100), takes(60), takes(20), takes(20), takes(20)]).toEqual([
      512,
      512,
      256,
      128,
      START,
      START,
      START,
    ]);
  });

  it('takes blocks within a second together, because what is sent is not in the next of them', () => {
    const fast = () => takes(16, { inFlight: START, afterMs: 250 });
    expect(times(4, fast)).toEqual([START, START, START, 2 * START]);
  });

  it('counts a block that is recorded late in the round that runs', () => {
    takes(0);
    window.mined({ block: block - 1, count: START, inFlight: START, left: 0 }, nowMs + 5_000, MAX);
    expect(window.limit).toBe(2 * START);
  });
});

describe('a window of which a part is sent too late for the next block', () => {
  it('doubles when the blocks that took all that a pool had have taken nine tenths together', () => {
    takesAll();
    expect([takes(93, { left: 0 }), takes(35, { left: 0 })]).toEqual([2 * START, 4 * START]);
    expect([takes(93, { left: 0 }), takes(70, { left: 0 }), takes(93, { left: 0 })]).toEqual([
      4 * START,
      4 * START,
      8 * START,
    ]);
  });

  it('does not halve, however little is sent in time for each block', () => {
    times(3, takesAll);
    expect(times(10, () => takes(20, { left: 50 }))).toEqual(times(10, () => 8 * START));
  });

  it('halves when blocks leave more than a tenth of it in the pool, and take under half', () => {
    times(3, takesAll);
    expect([takes(50, { left: 51 }), takes(50, { left: 52 }), takes(50, { left: 52 })]).toEqual([
      8 * START,
      8 * START,
      4 * START,
    ]);
  });
});

describe('after a refusal', () => {
  it('what is beyond the window waits for the pool, and does not count', () => {
    window.refusedAbove(20);
    expect(takes(20, { inFlight: START })).toBe(21);
  });

  it('a window is what the pool had, and grows by one with each block that takes all', () => {
    window.refusedAbove(20);
    expect([window.limit, takesAll(), takesAll(), takes(10)]).toEqual([20, 21, 22, 22]);
  });

  it('it doubles again when so many blocks took all that the refusal is long ago', () => {
    window.refusedAbove(20);
    expect(times(16, takesAll)).toEqual([...times(15, () => 0).map((_, index) => 21 + index), 70]);
  });

  it('it is one where a chain takes only the next nonce, and no less', () => {
    window.refusedAbove(0);
    expect(window.limit).toBe(1);
  });
});

describe('after a pool dropped some without a word', () => {
  it('a window is half, once for all that were in flight', () => {
    for (let index = 0; index < 10; index += 1) window.dropped();
    expect(window.limit).toBe(START / 2);
    takes(START - 1);
    window.dropped();
    expect(window.limit).toBe(START / 2 + 1);
    takes(1);
    window.dropped();
    expect(window.limit).toBe(START / 4);
  });

  it('it grows by one from there', () => {
    times(3, takesAll);
    window.dropped();
    expect([window.limit, takesAll()]).toEqual([256, 257]);
  });
});
