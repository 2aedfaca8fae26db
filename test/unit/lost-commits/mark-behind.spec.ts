import { beforeEach, expect, it } from '@jest/globals';
import { EventLog } from '../../../src/modules/events/index.js';
import { type ChainBehind, LostCommitsRepository } from '../../../src/modules/ledger/index.js';
import { ExecutedAfterAll } from '../../../src/modules/lost-commits/application/executed-after-all.js';
import { MarkBehind } from '../../../src/modules/lost-commits/application/mark-behind.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { aLease, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = aLease(SIGNER);
const LOWER: ChainBehind = { cause: 'LOWER_NONCE', chainNonce: 3, usedBelow: 5, block: null };
const RESET: ChainBehind = { ...LOWER, cause: 'CHAIN_RESET' };
const BOOKS = { signer: SIGNER, begun: true, usedBelow: 5n, block: 1, origin: [] };

let stored: unknown[];
let told: unknown[];
let lookedFrom: bigint[];
let mark: MarkBehind;

beforeEach(() => {
  [stored, told, lookedFrom] = [[], [], []];
  mark = new MarkBehind(
    fakeOf(LostCommitsRepository, {
      markBehind: async (_fence, _signer, behind) => void stored.push(behind),
      noteOrigin: async (_fence, _signer, origin) => void stored.push(origin),
    }),
    new RecordedWrites().asDoor(),
    fakeOf(EventLog, {
      appendOfSigners: async (_tx, _author, events) => void told.push(...events.map(({ reason }) => reason)),
    }),
    fakeOf(ExecutedAfterAll, { lookFor: async (_lease, from) => void lookedFrom.push(from) }),
    new RecordingLog(),
  );
});

it.each([
  ['for the first time', null, LOWER, 1],
  ['again', LOWER, LOWER, 0],
  ['as another chain by now', LOWER, RESET, 1],
  ['as a lower nonce, when it was another chain before', RESET, LOWER, 0],
])('a chain that is behind %s', async (_how, behind, shown, times) => {
  await mark.behind(LEASE, { ...BOOKS, behind }, shown);
  expect([stored, told]).toEqual([
    Array.from({ length: times }, () => shown),
    Array.from({ length: times }, () => 'chain_behind'),
  ]);
});

it.each([
  ['another chain', RESET, []],
  ['a lower nonce, after a look at what used the nonces', LOWER, [3n]],
  ['a lower nonce that nobody told', { ...LOWER, chainNonce: null }, []],
])('a chain that is even again is told with what was wrong: %s', async (_what, before, from) => {
  await mark.caughtUp(LEASE, before);
  expect([stored, told, lookedFrom]).toEqual([[null], ['chain_caught_up'], from]);
});

it('the first blocks of a chain are stored without a word', async () => {
  await mark.origin(LEASE, ['0xa']);
  expect([stored, told]).toEqual([[['0xa']], []]);
});
