import { describe, expect, it, jest } from '@jest/globals';
import { fencedMove, heldSigner, readCursor, shareLocked } from '../support/fence-cursor.js';
import { fencedWrite, type HandOverCount, HandOvers, naiveWrite } from '../support/fence-hand-overs.js';
import { type OpenTransaction, TERMS, twoNodeLab } from '../support/fence-lab.js';
import { holdOpen } from '../support/fenced-writer.js';

jest.setTimeout(60_000);

const WRITERS = 8;
const RENEWALS_UNDER = 32;

const { lab, first, second } = await twoNodeLab({ first: RENEWALS_UNDER + 2, second: WRITERS + 2 });

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
    await fencedMove(first, lease);
    expect((await readCursor(lab, lease.signer)).next).toBe(1n);
  });

  it('would wait for each of them if they had locked the lease FOR SHARE', async () => {
    const lease = await heldSigner(lab, first);
    const writers: OpenTransaction[] = [];
    for (let i = 0; i < RENEWALS_UNDER; i++) writers.push(await shareLocked(lab, lease));
    const renewal = first.leases.renew(first.id, [lease], TERMS);
    await lab.heldOffByAll(writers, renewal);
    expect(await renewal).toEqual([lease]);
  });

  async function openWriters(): Promise<number> {
    const [row] = await lab.observer.run<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    return Number(row?.count);
  }
});

function print(shape: string, { handOvers, writes, refused, stale }: HandOverCount): void {
  process.stdout.write(
    `${shape}: ${handOvers} hand-overs, ${writes} writes, ${refused} refused, ${stale} stale commits\n`,
  );
}
