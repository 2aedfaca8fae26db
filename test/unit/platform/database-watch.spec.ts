import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../../src/platform/database/database.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import type { LossEvidence } from '../../../src/platform/database/database-sighting.js';
import type { Statement } from '../../../src/platform/database/pg-tx.js';
import { readableLog } from './log-lines.js';

const EPOCH = { epoch: '1', started_at: '2025-01-01', system_identifier: 'server', timeline: '1' };
const SERVER = { server: 'server', server_timeline: '1', flushed: '100' };
const NO_EPOCH = { epoch: null, started_at: null, system_identifier: null, timeline: null };

/** Says what a test wants, and takes a new epoch. */
class ToldDatabase {
  connects = 1;
  row: Record<string, string | null> = { ...EPOCH, ...SERVER };
  /** Of every look. */
  readonly looks: string[] = [];
  /** Values of every epoch that was opened. */
  readonly opened: unknown[][] = [];
  onLook: (statement: string) => void = () => undefined;

  async query({ name }: Statement, values: readonly unknown[]): Promise<{ rows: unknown[] }> {
    if (name === 'database_open_epoch') {
      this.opened.push([...values]);
      const [number, system, timeline] = values;
      const epoch = String(number);
      const ofServer = { system_identifier: String(system), timeline: String(timeline) };
      this.row = { ...this.row, epoch, started_at: `2025-01-0${epoch}`, ...ofServer };
      return { rows: [] };
    }
    this.looks.push(name);
    this.onLook(name);
    return { rows: [this.row] };
  }

  asDatabase(): Database {
    return this as unknown as Database;
  }
}

let database: ToldDatabase;
let heartbeat: ToldDatabase;
let watch: DatabaseWatch;
let told: LossEvidence[];
let log: ReturnType<typeof readableLog>;

beforeEach(() => {
  [database, heartbeat] = [new ToldDatabase(), new ToldDatabase()];
  log = readableLog('warn');
  watch = new DatabaseWatch(database.asDatabase(), heartbeat.asDatabase(), { id: 'node-a' }, log.log);
  told = [];
  watch.onNewEpoch((evidence) => told.push(evidence));
});

describe('a look at the database', () => {
  it('is made again after a connection was made, and not before', async () => {
    for (const [connects, expected] of [
      [1, 1],
      [1, 1],
      [2, 2],
      [2, 2],
    ] as const) {
      database.connects = connects;
      await watch.checkIfReconnected();
      expect(database.looks).toHaveLength(expected);
    }
    expect([told, heartbeat.looks]).toEqual([[], []]);
  });

  it('is made again after a connection that is made during it: that may lead to another server', async () => {
    database.onLook = () => {
      if (database.looks.length === 1) database.connects += 1;
    };
    for (const expected of [1, 2, 2]) {
      await watch.checkIfReconnected();
      expect(database.looks).toHaveLength(expected);
    }
  });

  it('by the heartbeat is no look through the connections of the lanes', async () => {
    await watch.check();
    expect([heartbeat.looks.length, database.looks.length]).toEqual([1, 0]);
    await watch.checkIfReconnected();
    expect(database.looks).toHaveLength(1);
  });

  it('is one for all who want it at the same time', async () => {
    await Promise.all([watch.checkIfReconnected(), watch.checkIfReconnected(), watch.checkIfReconnected()]);
    expect(database.looks).toHaveLength(1);
  });

  it('that failed is made again', async () => {
    database.onLook = () => {
      throw new Error('the database is away');
    };
    await expect(watch.checkIfReconnected()).rejects.toThrow('the database is away');
    database.onLook = () => undefined;
    await watch.checkIfReconnected();
    expect(database.looks).toEqual(['database_see', 'database_see']);
  });
});

describe('an epoch', () => {
  it('is opened where there is none, and nobody is alarmed', async () => {
    database.row = { ...NO_EPOCH, ...SERVER };
    await watch.checkIfReconnected();
    expect(database.opened).toEqual([[1, 'server', 1, 'first', 'node-a']]);
    expect([told, log.lines]).toEqual([[], []]);
  });

  it('is opened on evidence of a loss, once, and whoever listens is told', async () => {
    await watch.checkIfReconnected();
    database.row = { ...database.row, server_timeline: '2' };
    database.connects += 1;
    await watch.checkIfReconnected();
    expect(database.opened).toEqual([[2, 'server', 2, 'new_timeline', 'node-a']]);
    expect(told).toEqual(['new_timeline']);
    expect(log.lines).toMatchObject([{ evidence: 'new_timeline', system: 'server', timeline: 2, epoch: 1 }]);
    database.connects += 1;
    await watch.checkIfReconnected();
    expect([database.opened.length, told.length]).toEqual([1, 1]);
  });

  it('is opened for a log that is shorter than it was when the heartbeat looked', async () => {
    await watch.check();
    database.row = { ...database.row, flushed: '99' };
    await watch.checkIfReconnected();
    expect(told).toEqual(['log_went_backwards']);
  });

  it('that another node opened is told, and none is opened for it', async () => {
    await watch.checkIfReconnected();
    heartbeat.row = { ...heartbeat.row, epoch: '2', started_at: '2025-01-02' };
    await watch.check();
    expect([told, heartbeat.opened]).toEqual([['new_timeline'], []]);
    await watch.check();
    expect(told).toHaveLength(1);
  });

  it('is no news to a process that looks for the first time', async () => {
    database.row = { ...database.row, epoch: '7' };
    await watch.checkIfReconnected();
    expect(told).toEqual([]);
  });

  it('is opened for what somebody found, at the next look, without a new connection, once', async () => {
    await watch.checkIfReconnected();
    watch.report('cursor_went_backwards');
    await watch.checkIfReconnected();
    expect(told).toHaveLength(1);
    database.connects += 1;
    await watch.checkIfReconnected();
    expect(database.opened).toEqual([[2, 'server', 1, 'cursor_went_backwards', 'node-a']]);
    expect(told).toEqual(['cursor_went_backwards']);
  });
});

describe('a server that does not tell its timeline', () => {
  const refuse = (code: string): void => {
    database.onLook = (statement) => {
      if (statement === 'database_see') throw Object.assign(new Error('refused'), { code });
    };
  };

  it.each(['42501', '0A000', '42883'])(
    'is asked for the epoch alone from then on, and that is said once: %s',
    async (code) => {
      refuse(code);
      database.row = { ...EPOCH, server: null, server_timeline: null, flushed: null };
      for (database.connects = 1; database.connects < 3; database.connects += 1) await watch.checkIfReconnected();
      expect(database.looks).toEqual(['database_see', 'database_see_epoch', 'database_see_epoch']);
      expect(log.lines).toHaveLength(1);
      database.row = { ...database.row, epoch: '2', started_at: '2025-01-02' };
      await watch.checkIfReconnected();
      expect([told, database.opened]).toEqual([['new_timeline'], []]);
    },
  );

  it('is not one that fails for another reason', async () => {
    refuse('57P01');
    await expect(watch.checkIfReconnected()).rejects.toMatchObject({ code: '57P01' });
    expect(database.looks).toEqual(['database_see']);
  });

  it('that refuses the question for the epoch, too, is not asked for ever', async () => {
    database.onLook = () => {
      const code = database.looks.length < 5 ? '42501' : '57P01';
      throw Object.assign(new Error('refused'), { code });
    };
    await expect(watch.checkIfReconnected()).rejects.toMatchObject({ code: '42501' });
    expect(database.looks).toEqual(['database_see', 'database_see_epoch']);
  });
});
