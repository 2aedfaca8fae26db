import { describe, expect, it } from '@jest/globals';
import { IntakeConfig } from '../../../src/config/index.js';
import { IntakeBatcher } from '../../../src/modules/transactions/application/intake-batcher.js';
import type {
  Intake,
  ManagedTxRepository,
  NewTx,
} from '../../../src/modules/transactions/domain/managed-tx.repository.js';
import { aRequest } from '../../support/builders.js';

const KB = 1024;

/** A table whose inserts end when the test says so. */
class Table {
  readonly inserts: NewTx[][] = [];
  private readonly ends: (() => void)[] = [];

  readonly repository = {
    insertPending: (txs: readonly NewTx[]): Promise<Intake[]> => {
      this.inserts.push([...txs]);
      return new Promise((resolve) =>
        this.ends.push(() => resolve(txs.map(({ txId }) => ({ kind: 'created', txId })))),
      );
    },
  } as unknown as ManagedTxRepository;

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

const aTx = (id: number): NewTx => ({ isServed: true, txId: `tx-${id}`, request: aRequest({ requestId: `r-${id}` }) });
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
    expect(await third).toEqual({ kind: 'created', txId: 'tx-3' });
  });

  it('takes one request that is larger than the bound when it is alone: nothing waits for ever', async () => {
    const table = new Table();
    const large = intake(table, { maxQueuedBytes: KB }).submit(aTx(1), 5 * KB);
    await nextTurn();
    await table.endAll();
    expect(await large).toEqual({ kind: 'created', txId: 'tx-1' });
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

  it('is bounded in count', async () => {
    const batcher = intake(new Table(), { maxQueued: 2 });
    void batcher.submit(aTx(1), 1);
    void batcher.submit(aTx(2), 1);
    await expect(batcher.submit(aTx(3), 1)).rejects.toMatchObject({ code: 'intake_full', facts: { maxQueued: 2 } });
  });
});
