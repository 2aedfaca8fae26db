import { expect, it } from '@jest/globals';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { LeaseLost } from '../../src/modules/signers/domain/lease-lost.js';
import { acquire, type LabNode, TERMS, twoNodeLab } from '../support/fence-lab.js';
import type { Session } from '../support/lab-session.js';

const { lab, first, second } = await twoNodeLab();

const take = (node: LabNode, signers: readonly SignerId[], terms = TERMS): Promise<Lease[]> =>
  node.leases.acquire(node.id, signers, terms);

/** Holds the lease row until the session ends its transaction. */
async function locked(signer: SignerId, strength = 'UPDATE'): Promise<Session> {
  const session = await lab.session();
  await session.run('BEGIN');
  await session.run(`SELECT FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR ${strength}`, [
    signer.chainId,
    signer.address,
  ]);
  return session;
}

/** Whether somebody holds this row locked. */
async function isLocked({ chainId, address }: SignerId): Promise<boolean> {
  const free = await lab.observer.run(
    'SELECT FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE SKIP LOCKED',
    [chainId, address],
  );
  return free.length === 0;
}

it('a lease that another renews while we wait for its row stays that one’s, for the allowance too', async () => {
  const lease = await acquire(first, lab.freshSigner());
  const terms = { ...TERMS, clockSkewAllowanceMs: 60_000 };
  await lab.expire(lease.signer, 3_600_000);
  const session = await locked(lease.signer);
  const waiting = take(second, [lease.signer], terms);
  await lab.heldOffBy(session.pid, waiting);
  // It ran out again, a moment ago: the allowance counts from then.
  await session.run(`UPDATE signer_lease SET expires_at = clock_timestamp() WHERE signer = $1`, [lease.signer.address]);
  await session.run('COMMIT');
  expect(await waiting).toEqual([]);
});

it.each<[string, (leases: readonly Lease[]) => Promise<unknown>]>([
  ['a renewal', (leases) => first.leases.renew(first.id, leases, TERMS)],
  ['a release', (leases) => first.leases.release(first.id, leases)],
  ['a fenced write', (leases) => first.fenced.run(leases, 'test', async () => undefined)],
])('%s locks rows in the order of their keys, however they are named, so that none deadlock', async (_, write) => {
  const [low, high] = await take(first, lab.freshSigners(2)).then((leases) =>
    leases.toSorted((a, b) => (a.signer.address < b.signer.address ? -1 : 1)),
  );
  if (!low || !high) throw new Error('two were free');
  const session = await locked(low.signer);
  const waiting = write([high, low]);
  await lab.heldOffBy(session.pid, waiting);
  expect(await isLocked(high.signer)).toBe(false);
  await session.run('ROLLBACK');
  await waiting;
});

it('leases are taken over in the order of their keys, however they are named, so that none deadlock', async () => {
  const [low, high] = lab.freshSigners(2).toSorted((a, b) => (a.address < b.address ? -1 : 1));
  if (!low || !high) throw new Error('there are two');
  for (const signer of [low, high]) {
    await acquire(second, signer);
    await lab.expire(signer);
  }
  const session = await locked(low);
  const waiting = take(first, [high, low]);
  await lab.heldOffBy(session.pid, waiting);
  expect(await isLocked(high)).toBe(false);
  await session.run('ROLLBACK');
  expect(await waiting).toHaveLength(2);
});

it('a node neither renews nor releases the lease of another, though it knows the token', async () => {
  const lease = await acquire(first, lab.freshSigner());
  expect(await second.leases.renew(second.id, [lease], TERMS)).toEqual([]);
  await second.leases.release(second.id, [lease]);
  expect(await first.leases.renew(first.id, [lease], TERMS)).toEqual([lease]);
});

it('a fenced write that waited while its lease ran out writes nothing', async () => {
  const lease = await acquire(first, lab.freshSigner());
  const session = await locked(lease.signer);
  const waiting = first.fenced.run([lease], 'test', async () => undefined);
  await lab.heldOffBy(session.pid, waiting);
  // A change without a change of key: the row is read again, and its end was after the write began.
  await session.run(`UPDATE signer_lease SET expires_at = clock_timestamp() WHERE signer = $1`, [lease.signer.address]);
  await session.run('COMMIT');
  await expect(waiting).rejects.toBeInstanceOf(LeaseLost);
});
