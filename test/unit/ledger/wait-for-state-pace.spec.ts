import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ServerConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { TxQueries } from '../../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../../src/modules/requests/application/wait-for-state.js';
import type { TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const LONG_MS = 60_000;

let current: TxState;
/** What a look costs. */
let lookMs: number;
let fault: Error | null;
let looks: number;
let log: RecordingLog;
let wait: WaitForState;

beforeEach(() => {
  jest.useFakeTimers();
  [current, lookMs, fault, looks, log] = ['PENDING', 0, null, 0, new RecordingLog()];
  const clock = new FakeClock();
  const changedStates = async (): Promise<ReadonlyMap<string, TxState>> => {
    looks += 1;
    clock.advance(lookMs);
    if (fault !== null) throw fault;
    return new Map([['tx', current]]);
  };
  wait = new WaitForState(fakeOf(TxQueries, { changedStates }), new ServerConfig(), clock, log);
});
afterEach(async () => {
  wait.onModuleDestroy();
  await jest.advanceTimersByTimeAsync(LONG_MS);
  jest.useRealTimers();
});

async function endsAtOnce(asked: TxState, left?: AbortSignal): Promise<boolean> {
  let ended = false;
  void wait.execute('tx', asked, LONG_MS, left).then(() => (ended = true));
  await jest.advanceTimersByTimeAsync(0);
  return ended;
}

describe('a long poll ends', () => {
  const ORDER: readonly TxState[] = ['PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED'];

  it.each(ORDER)('when the tx is %s, or further', async (asked) => {
    const ended: boolean[] = [];
    for (current of ORDER) {
      const left = new AbortController();
      ended.push(await endsAtOnce(asked, left.signal));
      left.abort();
      await jest.advanceTimersByTimeAsync(LONG_MS);
    }
    expect(ended).toEqual(ORDER.map((_state, index) => index >= ORDER.indexOf(asked)));
  });

  it.each(['FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'] as const)(
    'when the tx is %s, whatever it waits for; and who waits for that waits past MINED',
    async (state) => {
      current = state;
      expect(await endsAtOnce('CONFIRMED')).toBe(true);
      await jest.advanceTimersByTimeAsync(LONG_MS);
      current = 'MINED';
      expect(await endsAtOnce(state)).toBe(false);
    },
  );
});

describe('a look at what is waited for', () => {
  const looksIn = async (ms: number): Promise<number> => {
    looks = 0;
    await jest.advanceTimersByTimeAsync(ms);
    return looks;
  };

  it('comes every hundred milliseconds, and nine times as long after one that took long', async () => {
    await endsAtOnce('MINED');
    expect([await looksIn(99), await looksIn(1)]).toEqual([0, 1]);
    lookMs = 50;
    await looksIn(100);
    expect([await looksIn(449), await looksIn(1)]).toEqual([0, 1]);
  });

  it('comes a second after one that failed, and each failure after a success is logged', async () => {
    fault = new Unavailable('database_unavailable', 'away', 'try again');
    await endsAtOnce('MINED');
    expect([await looksIn(999), await looksIn(1), log.lines.length]).toEqual([0, 1, 1]);
    fault = null;
    await looksIn(1_000);
    fault = new Unavailable('database_unavailable', 'away', 'try again');
    await looksIn(100);
    expect(log.lines.map(({ fields }) => fields)).toEqual(new Array(2).fill({ waiting: 1, error: 'away' }));
  });

  it('comes no more when nobody waits', async () => {
    await endsAtOnce('MINED');
    wait.onModuleDestroy();
    await looksIn(100);
    expect(await looksIn(LONG_MS)).toBe(0);
  });
});
