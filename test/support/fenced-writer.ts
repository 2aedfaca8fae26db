import type { Fence } from '../../src/modules/signers/domain/fence.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { PgTx } from '../../src/platform/database/pg-tx.js';
import type { LabNode, OpenTransaction } from './fence-lab.js';
import { gate } from './gate.js';

/** A fenced transaction that has done its work and is held open, as one that is slow to commit. */
export async function holdOpen(
  node: LabNode,
  leases: readonly Lease[],
  work: (fence: Fence) => Promise<unknown>,
): Promise<OpenTransaction> {
  const worked = gate();
  const ending = gate();
  const { pid, done } = await startFenced(node, leases, async (fence) => {
    await work(fence);
    worked.open();
    await ending.opened;
  });
  await Promise.race([worked.opened, done]);
  return {
    pid,
    commit: () => {
      ending.open();
      return done;
    },
  };
}

/** A fenced transaction that has its lease rows locked and goes on by itself. */
export async function startFenced<T>(
  node: LabNode,
  leases: readonly Lease[],
  work: (fence: Fence) => Promise<T>,
): Promise<{ pid: number; done: Promise<T> }> {
  let pid = 0;
  const locked = gate();
  const done = node.fenced.run(leases, 'lab', async (fence) => {
    pid = await backendOf(PgTx.of(fence.tx));
    locked.open();
    return work(fence);
  });
  // Whoever awaits `done` hears of a failure; until then nobody listens, and Node would end the process.
  done.catch(() => undefined);
  await Promise.race([locked.opened, done]);
  return { pid, done };
}

async function backendOf(tx: PgTx): Promise<number> {
  const { rows } = await tx.query<{ pid: number }>({ name: 'lab_pid', text: 'SELECT pg_backend_pid() AS pid' }, []);
  return rows[0]?.pid ?? 0;
}
