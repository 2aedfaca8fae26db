import { describe, expect, it } from '@jest/globals';
import { InvariantViolation } from '../../src/kernel/errors.js';
import type { Fence } from '../../src/modules/signers/domain/fence.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { LeaseLost } from '../../src/modules/signers/domain/lease-lost.js';
import { fencedMove, heldSigner, moveCursor, readCursor, uncommittedMove } from '../support/fence-cursor.js';
import { acquire, handOver, type OpenTransaction, TERMS, twoNodeLab } from '../support/fence-lab.js';
import { holdOpen, startFenced } from '../support/fenced-writer.js';
import { gate } from '../support/gate.js';
import type { Session } from '../support/lab-session.js';

const { lab, first, second } = await twoNodeLab();

describe('a takeover', () => {
  it('waits for every fenced write in flight', async () => {
    const lease = await heldSigner(lab, first);
    const writers: OpenTransaction[] = [];
    for (let i = 0; i < 5; i++) writers.push(await holdOpen(first, [lease], async () => undefined));

    const takeover = handOver(first, lease, second);
    await lab.heldOffByAll(writers, takeover);

    expect(await takeover).toEqual({ signer: lease.signer, owner: 'second', token: 2n });
  });

  it('lets the later statements of the new owner see what the old one wrote', async () => {
    const { lease, writer } = await uncommittedMove(lab, first);
    const takeover = handOver(first, lease, second);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();

    await fencedMove(second, await takeover);

    expect(await readCursor(lab, lease.signer)).toEqual({ next: 2n, token: 2n });
  });

  it('does not wait for a fenced write that was rolled back, and nothing of it remains', async () => {
    const lease = await heldSigner(lab, first);
    const ending = gate();
    const writer = await startFenced(first, [lease], async (fence) => {
      await moveCursor(fence, lease.signer);
      await ending.opened;
      throw new Error('a bug in the work');
    });
    const takeover = handOver(first, lease, second);
    await lab.heldOffBy(writer.pid, takeover);
    ending.open();

    await expect(writer.done).rejects.toThrow('a bug in the work');
    await takeover;
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  it('does not wait for the writers of other signers', async () => {
    const lease = await heldSigner(lab, first);
    const neighbour = await holdOpen(first, [await heldSigner(lab, first)], async () => undefined);
    expect((await handOver(first, lease, second)).owner).toBe('second');
    await neighbour.commit();
  });
});

describe('after a takeover', () => {
  it('every fenced write of the old owner throws LeaseLost, writes nothing and does not begin its work', async () => {
    const lease = await heldSigner(lab, first);
    await handOver(first, lease, second);
    const begun: Fence[] = [];
    const write = (): Promise<void> =>
      first.fenced.run([lease], 'stale_write', async (fence) => {
        begun.push(fence);
        await moveCursor(fence, lease.signer);
      });

    for (let again = 0; again < 5; again++) {
      await expect(write()).rejects.toMatchObject({ code: 'lease_lost', operation: 'stale_write', leases: [lease] });
    }

    expect(begun).toEqual([]);
    expect(await readCursor(lab, lease.signer)).toEqual({ next: 0n, token: 1n });
  });

  it('an old token is of no use, even when the lease came back to the same node', async () => {
    const lease = await heldSigner(lab, first);
    const back = await handOver(second, await handOver(first, lease, second), first);
    expect(back.token).toBe(3n);
    await expect(fencedMove(first, lease)).rejects.toThrow(LeaseLost);
    await fencedMove(first, back);
    expect(await readCursor(lab, lease.signer)).toEqual({ next: 1n, token: 3n });
  });

  it('the lease of another node is of no use, however its token was learned', async () => {
    const lease = await heldSigner(lab, first);
    const stolen = { ...lease, owner: 'second' };
    await expect(second.fenced.run([stolen], 'lab', async () => undefined)).rejects.toThrow(LeaseLost);
  });
});

describe('an expired lease', () => {
  it('fences its owner although nobody has taken over yet', async () => {
    const lease = await heldSigner(lab, first);
    await lab.expire(lease.signer, 1);
    await expect(fencedMove(first, lease)).rejects.toThrow(LeaseLost);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  it('lets a fenced write that began before end in peace', async () => {
    const lease = await heldSigner(lab, first);
    const writer = await holdOpen(first, [lease], async () => undefined);
    await lab.expire(lease.signer);
    const takeover = acquire(second, lease.signer);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();
    expect((await takeover).token).toBe(2n);
  });
});

describe('a fenced write that begins while a takeover is in flight', () => {
  it('waits for its outcome, finds another owner and throws LeaseLost', async () => {
    const { lease, takeover } = await takeoverInFlight();
    const write = fencedMove(first, lease);
    await lab.heldOffBy(takeover.pid, write);
    await takeover.run('COMMIT');

    await expect(write).rejects.toThrow(LeaseLost);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  it('goes on when that takeover was rolled back', async () => {
    const { lease, takeover } = await takeoverInFlight();
    const write = fencedMove(first, lease);
    await lab.heldOffBy(takeover.pid, write);
    await takeover.run('ROLLBACK');
    await write;
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  it('throws LeaseLost under the statement of the product, held in flight', async () => {
    const lease = await heldSigner(lab, first);
    // On a pool of one connection the transaction begun here is the one that the takeover runs in.
    const slow = await lab.node('slow', { poolSize: 1 });
    await first.leases.release(first.id, [lease]);
    await slow.database.query({ name: 'lab_begin', text: 'BEGIN' }, []);
    expect((await acquire(slow, lease.signer)).token).toBe(2n);

    await expect(fencedMove(first, lease)).rejects.toThrow(LeaseLost);
    await slow.database.query({ name: 'lab_commit', text: 'COMMIT' }, []);
    expect((await readCursor(lab, lease.signer)).next).toBe(0n);
  });

  /** By hand, because the product takes expired leases only, and those are refused without a wait. */
  async function takeoverInFlight(): Promise<{ lease: Lease; takeover: Session }> {
    const lease = await heldSigner(lab, first);
    const takeover = await lab.session();
    await takeover.run('BEGIN');
    await takeover.run(
      `UPDATE signer_lease SET owner_node = 'second', fencing_token = 2 WHERE chain_id = $1 AND signer = $2`,
      [lease.signer.chainId, lease.signer.address],
    );
    return { lease, takeover };
  }
});

describe('a group of leases', () => {
  it('is written as one, each signer under its own token', async () => {
    const one = await heldSigner(lab, first);
    const two = await handOver(second, await heldSigner(lab, second), first);
    await first.fenced.run([one, two], 'lab', async (fence) => {
      await moveCursor(fence, one.signer);
      await moveCursor(fence, two.signer);
    });
    expect(await readCursor(lab, one.signer)).toEqual({ next: 1n, token: 1n });
    expect(await readCursor(lab, two.signer)).toEqual({ next: 1n, token: 2n });
  });

  it('with one lost writes nothing for any of them, and the error names the lost one alone', async () => {
    const leases = [await heldSigner(lab, first), await heldSigner(lab, first), await heldSigner(lab, first)];
    const [, lost] = leases;
    if (!lost) throw new Error('three were made');
    await handOver(first, lost, second);

    const write = first.fenced.run(leases, 'lab', async (fence) => {
      for (const lease of leases) await moveCursor(fence, lease.signer);
    });

    await expect(write).rejects.toMatchObject({ code: 'lease_lost', leases: [lost] });
    for (const { signer } of leases) expect((await readCursor(lab, signer)).next).toBe(0n);
  });
});

describe('a fence', () => {
  it('gives no token for a signer that it does not cover', async () => {
    const lease = await heldSigner(lab, first);
    const other = await heldSigner(lab, first);
    const write = first.fenced.run([lease], 'lab', (fence) => moveCursor(fence, other.signer));
    await expect(write).rejects.toThrow(InvariantViolation);
  });

  it('covers the signer on its own chain only', async () => {
    const lease = await heldSigner(lab, first);
    const elsewhere = { ...lease.signer, chainId: lease.signer.chainId + 1 };
    const write = first.fenced.run([lease], 'lab', async (fence) => fence.tokenFor(elsewhere));
    await expect(write).rejects.toThrow(InvariantViolation);
  });

  it('covers nobody when it was made for nobody', async () => {
    const lease = await heldSigner(lab, first);
    await expect(first.fenced.run([], 'lab', (fence) => moveCursor(fence, lease.signer))).rejects.toThrow(
      InvariantViolation,
    );
  });

  it('is of no use after its transaction', async () => {
    const lease = await heldSigner(lab, first);
    const kept = await first.fenced.run([lease], 'lab', async (fence) => fence);
    expect(kept.tx.open).toBe(false);
    expect(() => kept.tokenFor(lease.signer)).toThrow(InvariantViolation);
    await expect(moveCursor(kept, lease.signer)).rejects.toThrow(InvariantViolation);
  });

  it('is renewed under without noticing', async () => {
    const { lease, writer } = await uncommittedMove(lab, first);
    expect(await first.leases.renew(first.id, [lease], TERMS)).toEqual([lease]);
    await writer.commit();
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });
});
