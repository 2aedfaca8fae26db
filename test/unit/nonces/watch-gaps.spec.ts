import { beforeEach, expect, it } from '@jest/globals';
import { EventLog } from '../../../src/modules/events/index.js';
import { BegunWork, LaneMemory } from '../../../src/modules/ledger/index.js';
import { TellGaps, WatchGaps } from '../../../src/modules/nonces/application/watch-gaps.js';
import { LeaseManager, type MovedGap, NonceLedger } from '../../../src/modules/signers/index.js';
import { aLease, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { begunWork } from '../../support/fakes/our-work.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [EXTERNAL, OTHER] = [aSigner(1), aSigner(2)];

let moved: MovedGap[];
/** What the commit finds, when it is not what was read before. */
let noted: MovedGap[] | null;
let asked: unknown[];
let told: unknown[];
/** Whose nonces are asked for before the next one is given. */
let aligned: unknown[];
let writes: RecordedWrites;

beforeEach(() => {
  [moved, noted, asked, told, aligned, writes] = [[], null, [], [], [], new RecordedWrites()];
});

function watch(work: BegunWork = begunWork): Promise<void> {
  const ledger = fakeOf(NonceLedger, {
    movedGaps: async (signers) => (asked.push(...signers), moved),
    noteGaps: async () => noted ?? moved,
  });
  const events = fakeOf(EventLog, { appendOfSigners: async (_tx, _author, some) => void told.push(...some) });
  return new WatchGaps(
    fakeOf(LeaseManager, { heldOn: () => [EXTERNAL, OTHER].map((signer) => aLease(signer)) }),
    ledger,
    work,
    new TellGaps(
      ledger,
      writes.asDoor(),
      events,
      fakeOf(LaneMemory, { alignAgain: (signer) => void aligned.push(signer) }),
      new RecordingLog(),
    ),
  ).execute(DEV_CHAIN);
}

it('gaps are looked for of all signers here, and what did not move costs no commit', async () => {
  await watch();
  expect([asked, writes.operations, told]).toEqual([[EXTERNAL, OTHER], [], []]);
});

it('a gap is told when it is another one, and when it is closed', async () => {
  moved = [
    { signer: EXTERNAL, before: null, gap: 7n },
    { signer: OTHER, before: 3n, gap: null },
  ];
  await watch();
  expect(told).toEqual([
    { signer: EXTERNAL, reason: 'nonce_gap', detail: { nonce: 7 } },
    { signer: OTHER, reason: 'nonce_gap_closed', detail: { nonce: 3 } },
  ]);
  expect(aligned).toEqual([OTHER]);
});

it('what its commit does not find any more is not told, nor what belongs to a lane that has not begun', async () => {
  [moved, noted] = [[{ signer: EXTERNAL, before: null, gap: 7n }], []];
  await watch();
  noted = null;
  await watch(fakeOf(BegunWork, { run: async (_chainId, items) => [...items] }));
  expect(told).toEqual([]);
});
