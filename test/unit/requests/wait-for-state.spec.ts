import { afterEach, describe, expect, it } from '@jest/globals';
import { ServerConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { TxQueries } from '../../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../../src/modules/requests/application/wait-for-state.js';
import type { TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { SystemClock } from '../../../src/platform/system-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { until } from '../../support/until.js';
import { readableLog } from '../platform/log-lines.js';

const LONG_MS = 60_000;

/** Long polls on a table of states that the test changes. */
class WaitLab {
  readonly states = new Map<string, TxState>();
  readonly looks: (readonly string[])[] = [];
  fault: Error | null = null;
  readonly ended: string[] = [];
  private readonly logged = readableLog();
  readonly wait: WaitForState;

  constructor(maxWaiters = 100) {
    const changedStates = async (known: ReadonlyMap<string, TxState | null>): Promise<ReadonlyMap<string, TxState>> => {
      this.looks.push([...known.keys()]);
      if (this.fault !== null) throw this.fault;
      return new Map([...this.states].filter(([txId, state]) => known.has(txId) && known.get(txId) !== state));
    };
    this.wait = new WaitForState(
      fakeOf(TxQueries, { changedStates }),
      Object.assign(new ServerConfig(), { maxWaiters }),
      new SystemClock(),
      this.logged.log,
    );
  }

  get warnings(): unknown[] {
    return this.logged.lines.map(({ msg }) => msg);
  }

  /** A poll that runs while the test goes on. */
  start(txId: string, timeoutMs = LONG_MS, left?: AbortSignal): Promise<void> {
    return this.wait.execute(txId, 'MINED', timeoutMs, left).finally(() => this.ended.push(txId));
  }

  /** Another look began and ended after this was called. */
  async looked(): Promise<void> {
    const before = this.looks.length;
    await until('two more looks', () => Promise.resolve(this.looks.length >= before + 2));
  }
}

let lab: WaitLab;
afterEach(() => lab.wait.onModuleDestroy());

describe('long polls', () => {
  it('are answered by one query for all of them', async () => {
    lab = new WaitLab();
    const polls = ['a', 'b', 'c', 'a'].map((txId) => lab.start(txId));
    await lab.looked();
    expect([...(lab.looks.at(-1) ?? [])].sort()).toEqual(['a', 'b', 'c']);
    lab.states.set('a', 'MINED').set('b', 'CONFIRMED').set('c', 'FAILED');
    await Promise.all(polls);
  });

  it('are so many at most: one more is told to come back, and there is room when another ends', async () => {
    lab = new WaitLab(2);
    const [first, second] = [lab.start('a'), lab.start('b')];
    await expect(lab.start('c')).rejects.toMatchObject({
      kind: 'too_many',
      code: 'too_many_waiters',
      retryable: true,
      retryAfterSeconds: 1,
      facts: { maxWaiters: 2 },
    });
    lab.states.set('a', 'MINED');
    await first;
    const third = lab.start('c');
    lab.states.set('b', 'MINED').set('c', 'MINED');
    await Promise.all([second, third]);
  });

  it('end when the client leaves, and nobody asks for them any more', async () => {
    lab = new WaitLab();
    const client = new AbortController();
    const gone = lab.start('gone', LONG_MS, client.signal);
    const stays = lab.start('stays');
    await lab.looked();
    client.abort();
    await gone;
    await lab.looked();
    expect(lab.looks.at(-1)).toEqual(['stays']);
    lab.states.set('stays', 'MINED');
    await stays;
  });

  it('of a client that has left already are not begun', async () => {
    lab = new WaitLab();
    await lab.start('gone', LONG_MS, AbortSignal.abort());
    expect(lab.looks).toEqual([]);
  });

  it('go on while the database is away, which is logged once, and are answered when it is back', async () => {
    lab = new WaitLab();
    lab.fault = new Unavailable('database_unavailable', 'away', 'try again');
    const poll = lab.start('a');
    await lab.looked();
    expect([lab.ended, lab.warnings]).toEqual([[], ['failed to answer long polls']]);
    lab.fault = null;
    lab.states.set('a', 'MINED');
    await poll;
  });

  it('fail with what is wrong when it will not pass by itself', async () => {
    lab = new WaitLab();
    lab.fault = new TypeError('a bug');
    await expect(lab.start('a')).rejects.toThrow('a bug');
    // The next one is looked for again.
    lab.fault = null;
    lab.states.set('b', 'MINED');
    await lab.start('b');
  });

  it('end with their time-out, and at a shutdown', async () => {
    lab = new WaitLab();
    await lab.start('a', 20);
    const poll = lab.start('b');
    lab.wait.onModuleDestroy();
    await poll;
    // The server takes requests until all parts of the process have stopped.
    void lab.start('c');
    await until('the next one has ended, too', () => Promise.resolve(lab.ended.includes('c')));
  });
});
