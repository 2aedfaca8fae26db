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
async function locked(signer: SignerId): Promise<Session> {
  const session = await lab.session();
  await session.run('BEGIN');
  await session.run(`SELECT FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE`, [
    signer.chainId,
    signer.address,
  ]);
  return session;
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
