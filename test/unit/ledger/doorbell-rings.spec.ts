import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseConfig, NodeConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import { PgDoorbell } from '../../../src/modules/ledger/infrastructure/pg-doorbell.js';
import type { Database } from '../../../src/platform/database/database.js';
import type { LogFields } from '../../../src/platform/logging/log.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { readableLog } from '../platform/log-lines.js';
import { type LaneWaker } from '../../../src/modules/ledger/application/writing/doorbell.js';

const [MINE, THEIRS, OTHER] = [aSigner(1), aSigner(2), aSigner(3)];
const COALESCE_MS = 4;

let notes: string[];
let woken: SignerId[];
let clock: FakeClock;
let failing: Error | null;
/** What the database answers a note with, and when. */
let answer: Promise<void>;
let lines: LogFields[];
let bell: PgDoorbell;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance'] });
  [notes, woken, failing, clock] = [[], [], null, new FakeClock()];
  answer = Promise.resolve();
  clock.advance(1_000);
  const recording = readableLog();
  lines = recording.lines;
  bell = new PgDoorbell(
    {
      query: async (_: unknown, [note]: [string]) => {
        if (failing) throw failing;
        notes.push(note);
        await answer;
      },
    } as unknown as Database,
    new DatabaseConfig(),
    new NodeConfig(),
    { wake: (signers: readonly SignerId[]) => woken.push(...signers) } as unknown as LaneWaker,
    { isOurs: (signer: SignerId) => signer === MINE } as unknown as LeaseManager,
    clock,
    recording.log,
  );
});
afterEach(() => void jest.useRealTimers());

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await jest.advanceTimersByTimeAsync(ms);
}

describe('ringing', () => {
  it('wakes the lanes of this node at once, and tells nobody of them', async () => {
    bell.ring([MINE]);
    expect(woken).toEqual([MINE]);
    await pass(1_000);
    expect(notes).toEqual([]);
  });

  it('tells other nodes of theirs at once when nothing was told lately', async () => {
    bell.ring([THEIRS, MINE]);
    await pass(0);
    expect(notes).toEqual([signerKey(THEIRS)]);
    expect(woken).toEqual([MINE]);
  });

  it('tells what rang within the pause after a note together and once, at its end', async () => {
    bell.ring([THEIRS]);
    await pass(0);
    bell.ring([OTHER]);
    await pass(1);
    bell.ring([THEIRS, OTHER]);
    await pass(COALESCE_MS - 2);
    expect(notes).toHaveLength(1);
    await pass(1);
    expect(notes.slice(1)).toEqual([`${signerKey(OTHER)} ${signerKey(THEIRS)}`]);
    await pass(1_000);
    expect(notes).toHaveLength(2);
  });

  it('while a note waits sets no second timer: the note after it would come too early, or after the node stopped', async () => {
    bell.ring([THEIRS]);
    bell.ring([OTHER]);
    expect(jest.getTimerCount()).toBe(1);
    await pass(1_000);
    expect(notes).toEqual([`${signerKey(THEIRS)} ${signerKey(OTHER)}`]);
  });

  it('tells of many in notes that are short enough', async () => {
    const many = Array.from({ length: 250 }, (_, n) => aSigner(n + 10));
    bell.ring(many);
    await pass(0);
    expect(notes.map((note) => note.split(' ').length)).toEqual([100, 100, 50]);
    expect(notes.join(' ')).toBe(many.map(signerKey).join(' '));
    for (const note of notes) expect(note.length).toBeLessThan(8_000);
  });

  it('tells what rang while a note was on its way, also when nothing rings afterwards', async () => {
    let answered = (): void => undefined;
    answer = new Promise((resolve) => (answered = resolve));
    bell.ring([THEIRS]);
    await pass(0);
    bell.ring([OTHER]);
    answered();
    await pass(COALESCE_MS);
    expect(notes).toEqual([signerKey(THEIRS), signerKey(OTHER)]);
  });

  it('that fails is said in the log, and the next one is told all the same', async () => {
    failing = new Error('no database');
    bell.ring([THEIRS]);
    await pass(0);
    expect(lines).toMatchObject([{ msg: 'failed to ring the doorbell', error: 'no database' }]);
    failing = null;
    bell.ring([OTHER]);
    await pass(COALESCE_MS);
    expect(notes).toEqual([signerKey(OTHER)]);
  });

  it('that is not told yet when the node stops is told before it ends', async () => {
    bell.ring([THEIRS]);
    await bell.onModuleDestroy();
    expect(notes).toEqual([signerKey(THEIRS)]);
    await pass(1_000);
    expect(notes).toHaveLength(1);
  });

  it('of nobody tells nothing, nor does the end of a node that has nothing to tell', async () => {
    bell.ring([]);
    await pass(1_000);
    await bell.onModuleDestroy();
    expect(notes).toEqual([]);
  });
});
