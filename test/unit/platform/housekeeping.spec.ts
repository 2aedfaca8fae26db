import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NodeConfig, type NodeRole } from '../../../src/config/index.js';
import { Housekeeping } from '../../../src/platform/scheduling/housekeeping.js';
import { type Gate, gate } from '../../support/gate.js';
import { RecordingLog } from '../chain/chain-fixture.js';

class Cleaning extends Housekeeping {
  runs = 0;
  work: (isStopped: () => boolean) => Promise<void> = async () => undefined;

  constructor(
    role: NodeRole,
    readonly said = new RecordingLog(),
  ) {
    super('cleaning', Object.assign(new NodeConfig(), { role }), said);
  }

  interval(): Promise<void> {
    return this.runOnce();
  }

  protected override clean(isStopped: () => boolean): Promise<void> {
    this.runs += 1;
    return this.work(isStopped);
  }
}

describe('housekeeping', () => {
  let cleaning: Cleaning;
  let held: Gate;

  beforeEach(() => {
    cleaning = new Cleaning('all');
    held = gate();
  });
  afterEach(() => held.open());

  it('cleans whenever its interval has passed', async () => {
    await cleaning.interval();
    await cleaning.interval();
    expect(cleaning.runs).toBe(2);
  });

  it('skips the intervals that pass while it cleans', async () => {
    cleaning.work = () => held.opened;
    const first = cleaning.interval();
    await cleaning.interval();
    expect(cleaning.runs).toBe(1);
    held.open();
    await first;
    await cleaning.interval();
    expect(cleaning.runs).toBe(2);
  });

  it('tells a long run that the process is about to end', async () => {
    const told: boolean[] = [];
    cleaning.work = async (isStopped) => {
      told.push(isStopped());
      await held.opened;
      told.push(isStopped());
    };
    const run = cleaning.interval();
    const stopped = cleaning.onModuleDestroy();
    held.open();
    await Promise.all([run, stopped]);
    expect(told).toEqual([false, true]);
  });

  it('does nothing on a node that does not act', async () => {
    cleaning = new Cleaning('api');
    await cleaning.interval();
    expect(cleaning.runs).toBe(0);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no database'))],
    [
      'throws',
      () => {
        throw new Error('no database');
      },
    ],
  ])('logs its name and the error when it %s, and cleans again after the next interval', async (_how, fail) => {
    cleaning.work = fail;
    await cleaning.interval();
    expect(cleaning.said.lines).toMatchObject([
      { event: 'housekeeping failed', fields: { housekeeping: 'cleaning', error: { message: 'no database' } } },
    ]);
    await cleaning.interval();
    expect(cleaning.runs).toBe(2);
  });

  it('is destroyed only when the run in flight has ended, and cleans no more', async () => {
    cleaning.work = () => held.opened;
    void cleaning.interval();
    let destroyed = false;
    const destroying = cleaning.onModuleDestroy().then(() => (destroyed = true));
    await nextTurn();
    expect(destroyed).toBe(false);
    held.open();
    await destroying;
    await cleaning.interval();
    expect(cleaning.runs).toBe(1);
  });
});
