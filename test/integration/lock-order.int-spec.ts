import { describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { acquire, TERMS, twoNodeLab } from '../support/fence-lab.js';
import { holdOpen } from '../support/fenced-writer.js';

const { lab, first, second } = await twoNodeLab();

/** In the order of their keys, which is by chain and then by address; neither of the two alone gives it. */
interface Three {
  readonly low: SignerId;
  readonly middle: SignerId;
  readonly high: SignerId;
}

function threeSigners(): Three {
  const [one, two, three] = lab.freshSigners(3);
  if (!one || !two || !three) throw new Error('three were made');
  const nextChain = one.chainId + 1;
  return { low: two, middle: { ...one, chainId: nextChain }, high: { ...three, chainId: nextChain } };
}

/** Of the signers, those whose lease rows no open transaction has locked. */
async function unlocked(signers: readonly SignerId[]): Promise<string[]> {
  const rows = await lab.observer.run<{ signer: string }>(
    `SELECT signer FROM signer_lease WHERE (chain_id, signer) IN (SELECT * FROM unnest($1::bigint[], $2::text[])) FOR UPDATE SKIP LOCKED`,
    [signers.map(({ chainId }) => chainId), signers.map(({ address }) => address)],
  );
  return rows.map(({ signer }) => signer);
}

/** While the row in the middle is locked, has `work` wait for it, and tells which of the other two it had not locked before. */
async function notYetLocked({ low, middle, high }: Three, work: () => Promise<unknown>): Promise<string[]> {
  const blocker = await lab.session();
  await blocker.run('BEGIN');
  await blocker.run('SELECT 1 FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE', [
    middle.chainId,
    middle.address,
  ]);
  const working = work();
  await lab.heldOffBy(blocker.pid, working);
  const free = await unlocked([low, high]);
  await blocker.run('ROLLBACK');
  await working;
  return free;
}

describe('lease rows are locked in the order of their keys, whatever the order in which they are named,', () => {
  it('by a fenced write', async () => {
    const { three, leases } = await heldLeases();
    const write = (): Promise<void> => first.fenced.run(leases, 'lab', async () => undefined);
    expect(await notYetLocked(three, write)).toEqual([three.high.address]);
  });

  it('by a renewal', async () => {
    const { three, leases } = await heldLeases();
    const renewal = (): Promise<Lease[]> => first.leases.renew(first.id, leases, TERMS);
    expect(await notYetLocked(three, renewal)).toEqual([three.high.address]);
  });

  it('by a release', async () => {
    const { three, leases } = await heldLeases();
    const release = (): Promise<void> => first.leases.release(first.id, leases);
    expect(await notYetLocked(three, release)).toEqual([three.high.address]);
  });

  it('by a takeover', async () => {
    const { three, leases } = await heldLeases();
    for (const { signer } of leases) await lab.expire(signer);
    const signers = leases.map(({ signer }) => signer);
    const takeover = (): Promise<Lease[]> => second.leases.acquire(second.id, signers, TERMS);
    expect(await notYetLocked(three, takeover)).toEqual([three.high.address]);
  });

  /** The leases in the opposite order. */
  async function heldLeases(): Promise<{ three: Three; leases: Lease[] }> {
    const three = threeSigners();
    const leases: Lease[] = [];
    for (const signer of [three.high, three.middle, three.low]) leases.push(await acquire(first, signer));
    return { three, leases };
  }
});

describe('two leases that are taken over in the order opposite to that of a fenced write', () => {
  it('move when the write has ended, and neither side is a victim of a deadlock', async () => {
    const [one, two] = lab.freshSigners(2);
    if (!one || !two) throw new Error('two were made');
    const leases = [await acquire(first, one), await acquire(first, two)];
    const writer = await holdOpen(first, leases, async () => undefined);
    await lab.expire(one);
    await lab.expire(two);
    const takeover = second.leases.acquire(second.id, [two, one], TERMS);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();
    expect((await takeover).map(({ token }) => token)).toEqual([2n, 2n]);
  });

  it('are taken by one node alone when two want them in opposite orders at the same moment', async () => {
    const { low, middle } = threeSigners();
    const leases = [await acquire(first, low), await acquire(first, middle)];
    await first.leases.release(first.id, leases);
    const blocker = await lab.session();
    await blocker.run('BEGIN');
    await blocker.run('SELECT 1 FROM signer_lease WHERE chain_id = $1 AND signer = $2 FOR UPDATE', [
      low.chainId,
      low.address,
    ]);
    const wanted = [
      first.leases.acquire(first.id, [low, middle], TERMS),
      second.leases.acquire(second.id, [middle, low], TERMS),
    ];
    await lab.until(async () => (await lab.waiting()) === 2);
    // Whoever comes to its second row first would have it locked already.
    expect(await unlocked([middle])).toEqual([middle.address]);
    await blocker.run('ROLLBACK');
    expect((await Promise.all(wanted)).map((taken) => taken.length).sort()).toEqual([0, 2]);
  });
});
