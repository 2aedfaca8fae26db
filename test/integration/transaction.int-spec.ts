import { describe, expect, it } from '@jest/globals';
import { InvariantViolation } from '../../src/kernel/errors.js';
import { CommitFailed } from '../../src/platform/database/database.js';
import { DatabaseUnavailable } from '../../src/platform/database/database-errors.js';
import { PgTx } from '../../src/platform/database/pg-tx.js';
import { assertOutsideTransaction } from '../../src/platform/database/transaction-scope.js';
import { heldSigner, moveCursor, readCursor } from '../support/fence-cursor.js';
import { handOver, twoNodeLab } from '../support/fence-lab.js';

const { lab, first: node, second: other } = await twoNodeLab();

const FAILS = { name: 'lab_fails', text: 'SELECT 1 / 0' };
const ISOLATION = { name: 'lab_isolation', text: 'SHOW transaction_isolation' };

describe('a transaction', () => {
  it('whose COMMIT was answered with ROLLBACK throws CommitFailed, and nothing was written', async () => {
    const lease = await heldSigner(lab, node);
    const write = node.fenced.run([lease], 'lab', async (fence) => {
      await moveCursor(fence, lease.signer);
      // Swallowed by careless work: the transaction is aborted, and the driver takes its COMMIT without a word.
      await PgTx.of(fence.tx)
        .query(FAILS, [])
        .catch(() => undefined);
    });
    await expect(write).rejects.toThrow(CommitFailed);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  it('leaves its connection usable after a CommitFailed', async () => {
    const single = await lab.node('single', { poolSize: 1 });
    const aborted = single.database.transaction((tx) => tx.query(FAILS, []).catch(() => undefined));
    await expect(aborted).rejects.toThrow(CommitFailed);
    await single.database.transaction((tx) => tx.query(ISOLATION, []));
  });

  it('runs READ COMMITTED, whatever the database prefers', async () => {
    await lab.observer.run(inThisDatabase('SET default_transaction_isolation = serializable'));
    try {
      const fresh = await lab.node('fresh');
      const { rows } = await fresh.database.transaction((tx) => tx.query(ISOLATION, []));
      expect(rows).toEqual([{ transaction_isolation: 'read committed' }]);
    } finally {
      await lab.observer.run(inThisDatabase('RESET default_transaction_isolation'));
    }
  });

  it('ends as retryable when its connection is lost, and the takeover need not wait for it', async () => {
    const lease = await heldSigner(lab, node);
    const write = node.fenced.run([lease], 'lab', async (fence) => {
      await moveCursor(fence, lease.signer);
      const [cut] = await lab.observer.run<{ cut: boolean }>(
        `SELECT pg_terminate_backend(pid, 5000) AS cut FROM pg_stat_activity
          WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      expect(cut).toEqual({ cut: true });
      await moveCursor(fence, lease.signer);
    });
    await expect(write).rejects.toThrow(DatabaseUnavailable);
    expect((await handOver(node, lease, other)).token).toBe(2n);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  it('lets no network call happen inside it (I11), and any after it', async () => {
    const inside = node.database.transaction(async (tx) => {
      await tx.query(ISOLATION, []);
      assertOutsideTransaction('eth_sendRawTransaction');
    });
    await expect(inside).rejects.toThrow(InvariantViolation);
    expect(() => assertOutsideTransaction('eth_sendRawTransaction')).not.toThrow();
  });
});

// A branch of the work that nobody waits for any more must not slip a statement behind COMMIT or ROLLBACK: on that
// connection it would run by itself, without the fence, and be committed.
describe('a statement that comes after the end of the work', () => {
  it('is refused while COMMIT is on its way', async () => {
    const lease = await heldSigner(lab, node);
    let straggler: Promise<unknown> = Promise.resolve();
    await node.fenced.run([lease], 'lab', async (fence) => {
      straggler = moveCursor(fence, lease.signer).then(() => moveCursor(fence, lease.signer));
      straggler.catch(() => undefined);
    });
    await expect(straggler).rejects.toThrow(InvariantViolation);
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  it('is refused while ROLLBACK is on its way', async () => {
    const lease = await heldSigner(lab, node);
    let straggler: Promise<unknown> = Promise.resolve();
    const write = node.fenced.run([lease], 'lab', async (fence) => {
      straggler = moveCursor(fence, lease.signer).then(() => moveCursor(fence, lease.signer));
      await Promise.all([straggler, Promise.reject(new Error('a bug in the other branch'))]);
    });
    await expect(write).rejects.toThrow('a bug in the other branch');
    await expect(straggler).rejects.toThrow(InvariantViolation);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });
});

function inThisDatabase(setting: string): string {
  return `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${setting}', current_database()); END $$`;
}
