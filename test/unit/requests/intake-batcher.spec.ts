import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { IntakeConfig } from '../../../src/config/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { IntakeBatcher } from '../../../src/modules/requests/application/intake-batcher.js';
import { aRequest } from '../../support/builders.js';
import { type NewTx, type Intake } from '../../../src/modules/ledger/domain/tx-intake.js';

const KB = 1024;

/** A table whose inserts end when the test says so. */
class Table {
  readonly inserts: NewTx[][] = [];
  private readonly ends: (() => void)[] = [];

  readonly repository = {
    insertPending: (txs: readonly NewTx[]): Promise<Intake[]> => {
      this.inserts.push([...txs]);
      return new Promise((resolve) =>
        this.ends.push(() => resolve(txs.map(({ txId }) => ({ kind: 'created', txId, isPaused: false })))),
      );
    },
    areStored: async () => [],
  };

  /** Ends every insert, also those that follow from it. */
  async endAll(): Promise<void> {
    for (let end = this.ends.shift(); end !== undefined; end = this.ends.shift()) {
      end();
      await nextTurn();
    }
  }
}

function intake(table: Table, limits: Partial<IntakeConfig>): IntakeBatcher {
  return new IntakeBatcher(table.repository, Object.assign(new IntakeConfig(), limits));
}

const aTx = (id: number, account = 'one'): NewTx => ({
  isServed: true,
  txId: `tx-${id}`,
  request: aRequest({ requestId: `r-${id}`, sender: { ...ANYONE, account } }),
});
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the queue of the intake', () => {
  it('is bounded in bytes: what would pass the bound is refused, and can be sent again when there is room', async () => {
    const table = new Table();
    const batcher = intake(table, { maxQueuedBytes: 100 * KB });
    const taken = [batcher.submit(aTx(1), 60 * KB), batcher.submit(aTx(2), 40 * KB)];
    await expect(batcher.submit(aTx(3), 1)).rejects.toMatchObject({
      code: 'intake_full',
      retryable: true,
      facts: { maxQueuedBytes: 100 * KB },
    });
    await nextTurn();
    // Handed to the database, they are in memory still.
    await expect(batcher.submit(aTx(3), 1)).rejects.toMatchObject({ code: 'intake_full' });
    await table.endAll();
    await Promise.all(taken);
    const third = batcher.submit(aTx(3), 100 * KB);
    await nextTurn();
    await table.endAll();
    expect(await third).toEqual({ kind: 'created', txId: 'tx-3', isPaused: false });
  });

  it('takes one request that is larger than the bound when it is alone: nothing waits for ever', async () => {
    const table = new Table();
    const large = intake(table, { maxQueuedBytes: KB }).submit(aTx(1), 5 * KB);
    await nextTurn();
    await table.endAll();
    expect(await large).toEqual({ kind: 'created', txId: 'tx-1', isPaused: false });
  });

  it('stores few large requests at once, and never parts those that belong together', async () => {
    const table = new Table();
    const batcher = intake(table, { maxQueuedBytes: 1024 * 1024 * KB });
    const together = Symbol('batch');
    const MB = 1024 * KB;
    const all = [
      ...[1, 2, 3].map((id) => batcher.submit(aTx(id), 3 * MB)),
      ...[4, 5, 6].map((id) => batcher.submit(aTx(id), 3 * MB, together)),
    ];
    await nextTurn();
    await table.endAll();
    await Promise.all(all);
    expect(table.inserts.map((txs) => txs.map(({ txId }) => txId))).toEqual([
      ['tx-1', 'tx-2'],
      ['tx-3', 'tx-4', 'tx-5', 'tx-6'],
    ]);
  });

  it('displaces nothing of another account for a request that has no room even so', async () => {
    const table = new Table();
    const batcher = intake(table, { maxQueuedBytes: 100 * KB, batchSize: 1 });
    // Two are being inserted, so nothing can take their room.
    const inserting = [batcher.submit(aTx(1), 40 * KB), batcher.submit(aTx(2), 40 * KB)];
    await nextTurn();
    await nextTurn();
    const waiting = Array.from({ length: 10 }, (_, n) => batcher.submit(aTx(3 + n), 2 * KB));
    const settled = Promise.allSettled([...inserting, ...waiting]);
    await expect(batcher.submit(aTx(20, 'two'), 15 * KB)).rejects.toMatchObject({ code: 'intake_full' });
    const few = batcher.submit(aTx(21, 'two'), 2 * KB);
    await nextTurn();
    for (let turn = 0; turn < 20; turn += 1) {
      await table.endAll();
      await nextTurn();
    }
    const refused = (await settled).flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
    expect(refused).toEqual([11]);
    expect(await few).toMatchObject({ kind: 'created' });
  });

  it('is bounded in count', async () => {
    const batcher = intake(new Table(), { maxQueued: 2 });
    void batcher.submit(aTx(1), 1);
    void batcher.submit(aTx(2), 1);
    await expect(batcher.submit(aTx(3), 1)).rejects.toMatchObject({
      code: 'intake_full',
      facts: { maxQueued: 2 },
    });
  });
});

describe('an insert', () => {
  const sizes = (table: Table): number[] => table.inserts.map((txs) => txs.length);

  it('has a batch at most, and no more than two are under way', async () => {
    const table = new Table();
    const batcher = intake(table, { batchSize: 2 });
    const all = [1, 2, 3, 4, 5].map((id) => batcher.submit(aTx(id), 1));
    await nextTurn();
    await nextTurn();
    await nextTurn();
    expect(sizes(table)).toEqual([2, 2]);
    await table.endAll();
    expect(sizes(table)).toEqual([2, 2, 1]);
    expect(await Promise.all(all)).toEqual(
      [1, 2, 3, 4, 5].map((id) => ({ kind: 'created', txId: `tx-${id}`, isPaused: false })),
    );
  });

  it('has all that came in while two others were under way', async () => {
    const table = new Table();
    const batcher = intake(table, {});
    const all = [];
    for (const id of [1, 2, 3, 4]) {
      all.push(batcher.submit(aTx(id), 1));
      await nextTurn();
    }
    await table.endAll();
    await Promise.all(all);
    expect(sizes(table)).toEqual([1, 1, 2]);
  });

  it('keeps apart what belongs to two batches', async () => {
    const table = new Table();
    const batcher = intake(table, { batchSize: 1 });
    const [one, two] = [Symbol('one'), Symbol('two')];
    for (const [id, together] of [
      [1, one],
      [2, one],
      [3, two],
      [4, null],
      [5, null],
    ] as const)
      void batcher.submit(aTx(id), 1, together);
    await nextTurn();
    await table.endAll();
    expect(sizes(table)).toEqual([2, 1, 1, 1]);
  });
});

describe('a database that does not take an insert', () => {
  const outcomes = async (
    insert: (txs: readonly NewTx[]) => Intake[],
    ids = [1, 2, 3],
  ): Promise<(string | undefined)[]> => {
    const repository = {
      insertPending: async (txs: readonly NewTx[]) => insert(txs),
      areStored: async () => [],
    };
    const batcher = new IntakeBatcher(repository, Object.assign(new IntakeConfig(), { maxQueuedBytes: 100 }));
    const all = await Promise.allSettled(ids.map((id) => batcher.submit(aTx(id), 30)));
    await nextTurn();
    // Whatever became of them, their room is free again.
    expect(await Promise.allSettled([batcher.submit(aTx(9), 100)])).not.toMatchObject([
      { reason: { code: 'intake_full' } },
    ]);
    return all.map((each) => (each.status === 'fulfilled' ? each.value.kind : String(each.reason.message)));
  };
  const created = (txs: readonly NewTx[]): Intake[] =>
    txs.map(({ txId }) => ({ kind: 'created', txId, isPaused: false }));

  it('for one request refuses that one, and stores its neighbours', async () => {
    const insert = (txs: readonly NewTx[]): Intake[] => {
      if (txs.some(({ txId }) => txId === 'tx-2')) throw new Error('cannot be stored');
      return created(txs);
    };
    expect(await outcomes(insert)).toEqual(['created', 'cannot be stored', 'created']);
  });

  it('because it is away refuses all at once: it is not asked for each', async () => {
    let calls = 0;
    const insert = (): Intake[] => {
      calls += 1;
      throw new Unavailable('database_unavailable', 'no answer', 'try again');
    };
    expect(await outcomes(insert)).toEqual(['no answer', 'no answer', 'no answer']);
    // One for the three, one for the request after them.
    expect(calls).toBe(2);
  });

  it('and answers for fewer requests than it was given is believed for none', async () => {
    const insert = (txs: readonly NewTx[]): Intake[] => created(txs).slice(1);
    expect(new Set(await outcomes(insert))).toEqual(new Set(['the insert returned fewer results than requests']));
  });
});

describe('accounts', () => {
  /** The ids of each insert. */
  const inserted = (table: Table): (readonly string[])[] => table.inserts.map((txs) => txs.map(({ txId }) => txId));

  it('take turns: a flood of one delays no other by more than the inserts that are under way', async () => {
    const table = new Table();
    const batcher = intake(table, { batchSize: 4 });
    for (let id = 0; id < 100; id += 1) void batcher.submit(aTx(id, 'flood'), 1);
    await nextTurn();
    await nextTurn();
    for (const id of [100, 101, 102]) void batcher.submit(aTx(id, 'other'), 1);
    for (const id of [103, 104, 105]) void batcher.submit(aTx(id, 'third'), 1);
    await table.endAll();
    // Two were under way. One of each account, and one that is left.
    expect(new Set(inserted(table)[2])).toEqual(new Set(['tx-8', 'tx-100', 'tx-103', 'tx-9']));
    expect(inserted(table).slice(0, 6).flat()).toEqual(
      expect.arrayContaining(['tx-100', 'tx-101', 'tx-102', 'tx-103', 'tx-104', 'tx-105']),
    );
    expect(inserted(table).flat()).toHaveLength(106);
  });

  it('keep the order of their own requests, and a batch of one stays whole beside others', async () => {
    const table = new Table();
    const batcher = intake(table, { batchSize: 4 });
    const together = Symbol('batch');
    for (let id = 0; id < 6; id += 1) void batcher.submit(aTx(id), 1, together);
    for (let id = 6; id < 12; id += 1) void batcher.submit(aTx(id, 'other'), 1);
    await nextTurn();
    await table.endAll();
    expect(inserted(table)).toEqual([
      ['tx-0', 'tx-1', 'tx-2', 'tx-3', 'tx-4', 'tx-5'],
      ['tx-6', 'tx-7', 'tx-8', 'tx-9'],
      ['tx-10', 'tx-11'],
    ]);
  });

  it('share the room: the newest request of the one that has most makes place for one of who has less', async () => {
    const table = new Table();
    const batcher = intake(table, { maxQueued: 10, batchSize: 2 });
    const flood = Array.from({ length: 10 }, (_, id) => batcher.submit(aTx(id, 'flood'), 1));
    const others = Array.from({ length: 6 }, (_, id) => batcher.submit(aTx(100 + id, 'other'), 1));
    const results = Promise.allSettled([...flood, ...others]);
    // Half of it each.
    await expect(batcher.submit(aTx(11, 'flood'), 1)).rejects.toMatchObject({ code: 'intake_full' });
    await nextTurn();
    await table.endAll();
    const stored = (await results).map(({ status }) => status === 'fulfilled');
    expect(stored).toEqual([
      ...Array<boolean>(5).fill(true),
      ...Array<boolean>(5).fill(false),
      ...Array<boolean>(5).fill(true),
      false,
    ]);
    expect(inserted(table).flat()).toHaveLength(10);
  });

  it('share it in bytes, too, and what an insert has is taken from nobody', async () => {
    const table = new Table();
    const batcher = intake(table, { maxQueuedBytes: 100 * KB });
    const flood = [batcher.submit(aTx(1, 'flood'), 50 * KB), batcher.submit(aTx(2, 'flood'), 50 * KB)];
    const other = batcher.submit(aTx(3, 'other'), 10 * KB);
    await expect(flood[1]).rejects.toMatchObject({ code: 'intake_full' });
    await nextTurn();
    await expect(batcher.submit(aTx(4, 'third'), 90 * KB)).rejects.toMatchObject({ code: 'intake_full' });
    await table.endAll();
    expect([await flood[0], await other]).toMatchObject([{ kind: 'created' }, { kind: 'created' }]);
  });
});
