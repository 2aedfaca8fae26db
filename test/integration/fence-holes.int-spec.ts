import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import {
  heldSigner,
  moveCursor,
  NAIVE_MOVE,
  NAIVE_MOVE_ROW_TOKEN,
  NAIVE_MOVE_UNEXPIRED,
  naiveValues,
  readCursor,
  shareLocked,
  uncommittedMove,
} from '../support/fence-cursor.js';
import { acquire, handOver, TERMS, twoNodeLab } from '../support/fence-lab.js';
import { startFenced } from '../support/fenced-writer.js';

// Every hole in simpler fences (docs/decisions/0002-fence.md) shown open with the shape one would write first, so that the tests of ours are
// known to be able to fail; and then closed with ours, in the very same situation.
const { lab, first, second } = await twoNodeLab();

const READ_COMMITTED = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const NAIVE = [
  { shape: 'WHERE EXISTS (a lease with my token)', begin: READ_COMMITTED, sql: NAIVE_MOVE },
  { shape: 'the same with expires_at > clock_timestamp()', begin: READ_COMMITTED, sql: NAIVE_MOVE_UNEXPIRED },
  { shape: 'the same with fencing_token <= mine on the row itself', begin: READ_COMMITTED, sql: NAIVE_MOVE_ROW_TOKEN },
  { shape: 'SERIALIZABLE, on the side of the writer', begin: 'BEGIN ISOLATION LEVEL SERIALIZABLE', sql: NAIVE_MOVE },
];

describe('a writer that is slow to commit', () => {
  it.each(NAIVE)('commits after the new owner has read, with $shape', async ({ begin, sql }) => {
    const lease = await heldSigner(lab, first);
    const writer = await lab.session();
    await writer.run(begin);
    expect(await writer.write(sql, naiveValues(lease))).toBe(1);

    const taken = await handOver(first, lease, second);
    const seen = await readCursor(lab, lease.signer);
    await writer.run('COMMIT');

    expect(taken.token).toBe(2n);
    expect(seen.next).toBe(0n);
    // The stale commit: the new owner goes on from 0, and behind its back it is 1.
    expect(await readCursor(lab, lease.signer)).toEqual({ next: 1n, token: 1n });
  });

  it('holds off the takeover with ours, and the new owner reads what it wrote', async () => {
    const { lease, writer } = await uncommittedMove(lab, first);

    const takeover = handOver(first, lease, second);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();

    expect((await takeover).token).toBe(2n);
    expect(await readCursor(lab, lease.signer)).toEqual({ next: 1n, token: 1n });
  });
});

describe('a writer that waits for a row while the lease moves', () => {
  it('commits stale with the naive shape: the lease row is not read again after the wait', async () => {
    const { lease, release, blocker } = await lockedCursor();
    const writer = await lab.session();
    const write = writer.write(NAIVE_MOVE, naiveValues(lease));
    await lab.heldOffBy(blocker, write);

    await handOver(first, lease, second);
    const seen = await readCursor(lab, lease.signer);
    await release();

    expect(await write).toBe(1);
    expect(seen.next).toBe(0n);
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  it('makes the takeover wait too with ours', async () => {
    const { lease, release, blocker } = await lockedCursor();
    const writer = await startFenced(first, [lease], (fence) => moveCursor(fence, lease.signer));
    await lab.heldOffBy(blocker, writer.done);

    const takeover = handOver(first, lease, second);
    await lab.heldOffBy(writer.pid, takeover);
    await release();

    await writer.done;
    expect((await takeover).token).toBe(2n);
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  async function lockedCursor(): Promise<{ lease: Lease; blocker: number; release(): Promise<unknown> }> {
    const lease = await heldSigner(lab, first);
    const other = await lab.session();
    await other.run('BEGIN');
    await other.run(`SELECT 1 FROM signer_nonce_cursor WHERE chain_id = $1 AND signer = $2 FOR UPDATE`, [
      lease.signer.chainId,
      lease.signer.address,
    ]);
    return { lease, blocker: other.pid, release: () => other.run('COMMIT') };
  }
});

describe('a lease row locked FOR SHARE', () => {
  it('is safe: the takeover waits', async () => {
    const lease = await heldSigner(lab, first);
    await lab.expire(lease.signer);
    const writer = await shareLocked(lab, lease);
    const takeover = acquire(second, lease.signer);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();
    expect((await takeover).token).toBe(2n);
  });

  it('blocks the renewal of the owner itself', async () => {
    const lease = await heldSigner(lab, first);
    const writer = await shareLocked(lab, lease);
    const renewal = first.leases.renew(first.id, [lease], TERMS);
    await lab.heldOffBy(writer.pid, renewal);
    await writer.commit();
    expect(await renewal).toEqual([lease]);
  });

  it('is not what ours takes: a renewal goes through under an open fenced write', async () => {
    const { lease, writer } = await uncommittedMove(lab, first);
    expect(await first.leases.renew(first.id, [lease], TERMS)).toEqual([lease]);
    await writer.commit();
  });
});

describe('the index signer_lease_fence', () => {
  const INDEX = 'CREATE UNIQUE INDEX signer_lease_fence ON signer_lease (chain_id, signer, fencing_token)';

  it('is unique, immediate, valid, complete and over the three plain columns', async () => {
    expect(await describeIndex()).toEqual([
      {
        indisunique: true,
        indimmediate: true,
        indisvalid: true,
        indisready: true,
        indislive: true,
        partial: false,
        expressions: false,
        columns: 'chain_id,signer,fencing_token',
      },
    ]);
  });

  it.each([
    { change: 'partial', sql: `${INDEX} WHERE fencing_token > 0` },
    { change: 'not unique', sql: INDEX.replace('UNIQUE ', '') },
    { change: 'gone', sql: 'SELECT' },
  ])('when $change no longer holds off the takeover, and a stale write gets through', async ({ sql }) => {
    await lab.observer.run('DROP INDEX signer_lease_fence');
    await lab.observer.run(sql);
    try {
      const { lease, writer } = await uncommittedMove(lab, first);
      const taken = await handOver(first, lease, second);
      const seen = await readCursor(lab, lease.signer);
      await writer.commit();

      expect(taken.token).toBe(2n);
      expect(seen.next).toBe(0n);
      expect(await readCursor(lab, lease.signer)).toEqual({ next: 1n, token: 1n });
    } finally {
      await lab.observer.run('DROP INDEX IF EXISTS signer_lease_fence');
      await lab.observer.run(INDEX);
    }
  });

  it('holds off the takeover again once it is back', async () => {
    const { lease, writer } = await uncommittedMove(lab, first);
    const takeover = handOver(first, lease, second);
    await lab.heldOffBy(writer.pid, takeover);
    await writer.commit();
    await takeover;
  });

  function describeIndex(): Promise<object[]> {
    return lab.observer.run(`
      SELECT i.indisunique, i.indimmediate, i.indisvalid, i.indisready, i.indislive,
             i.indpred IS NOT NULL AS partial, i.indexprs IS NOT NULL AS expressions,
             (SELECT string_agg(a.attname, ',' ORDER BY k.at)
                FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, at)
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) AS columns
        FROM pg_index i
       WHERE i.indexrelid = to_regclass('signer_lease_fence') AND i.indrelid = 'signer_lease'::regclass`);
  }
});
