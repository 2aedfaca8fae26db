import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { FenceLab, holdOpen, type LabNode, type Session, TERMS } from '../support/fence-lab.js';
import { heldSigner, moveCursor, naiveValues, readCursor, SHARE_LOCK } from '../support/fence-cursor.js';
import { fencedWrite, type HandOverCount, HandOvers, naiveWrite } from '../support/fence-hand-overs.js';

jest.setTimeout(60_000);

const WRITERS = 8;
const RENEWALS_UNDER = 32;

let lab: FenceLab;
let first: LabNode;
let second: LabNode;

beforeAll(async () => {
  lab = await FenceLab.open();
  first = await lab.node('first', { poolSize: RENEWALS_UNDER + 2 });
  second = await lab.node('second', { poolSize: WRITERS + 2 });
});

afterAll(() => lab.close());

describe(`hand-overs under ${WRITERS} busy writers on each node`, () => {
  it('400 of them with the fence: not one stale commit', async () => {
    const count = await new HandOvers(lab, [first, second], fencedWrite).run(400, WRITERS, WRITERS);
    print('fence', count);
    expect(count.stale).toBe(0);
    // Not because nobody tried: writers of the old owner were refused again and again.
    expect(count.refused).toBeGreaterThan(400);
    expect(count.writes).toBeGreaterThanOrEqual(400 * WRITERS);
  });

  it('100 of them with the naive shape: stale commits, counted by the same means', async () => {
    const count = await new HandOvers(lab, [first, second], naiveWrite).run(100, WRITERS, WRITERS);
    print('naive WHERE EXISTS', count);
    expect(count.stale).toBeGreaterThan(0);
  });
});

describe(`a renewal under ${RENEWALS_UNDER} fenced writes that are all open`, () => {
  it('goes through at once', async () => {
    const lease = await heldSigner(lab, first);
    const writers = await Promise.all(
      Array.from({ length: RENEWALS_UNDER }, () => holdOpen(first, [lease], async () => undefined)),
    );
    expect(await openWriters()).toBe(RENEWALS_UNDER);

    expect(await first.leases.renew(first.id, [lease], TERMS)).toEqual([lease]);

    expect(await openWriters()).toBe(RENEWALS_UNDER);
    await Promise.all(writers.map((writer) => writer.commit()));
    await first.fenced.run([lease], 'lab', (fence) => moveCursor(fence, lease.signer));
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  it('would wait for each of them if they had locked the lease FOR SHARE', async () => {
    const lease = await heldSigner(lab, first);
    const writers = await sharing(lease);
    const renewal = first.leases.renew(first.id, [lease], TERMS);
    while (writers.size > 0) {
      const pid = await lab.heldOffByOneOf([...writers.keys()], renewal);
      await writers.get(pid)?.run('COMMIT');
      writers.delete(pid);
    }
    expect(await renewal).toEqual([lease]);
  });

  async function openWriters(): Promise<number> {
    const [row] = await lab.observer.run<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    return Number(row?.count);
  }

  async function sharing(lease: Lease): Promise<Map<number, Session>> {
    const writers = new Map<number, Session>();
    for (let i = 0; i < RENEWALS_UNDER; i++) {
      const session = await lab.session();
      await session.run('BEGIN');
      expect(await session.write(SHARE_LOCK, naiveValues(lease))).toBe(1);
      writers.set(session.pid, session);
    }
    return writers;
  }
});

function print(shape: string, { handOvers, writes, refused, stale }: HandOverCount): void {
  process.stdout.write(
    `${shape}: ${handOvers} hand-overs, ${writes} writes, ${refused} refused, ${stale} stale commits\n`,
  );
}
