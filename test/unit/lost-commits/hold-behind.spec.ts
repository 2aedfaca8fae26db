import { beforeEach, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { type Compared, CompareBooks } from '../../../src/modules/lost-commits/application/compare-books.js';
import { HoldBehind } from '../../../src/modules/lost-commits/application/hold-behind.js';
import { MarkBehind } from '../../../src/modules/lost-commits/application/mark-behind.js';
import { aLease, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ourWork } from '../../support/fakes/our-work.js';
import { type ChainBehind, LeasedWork } from '../../../src/modules/ledger/index.js';

const [GOOD, BAD] = [aLease(aSigner(1)), aLease(aSigner(2))];
const SHOWN = { cause: 'LOWER_NONCE', chainNonce: 3, usedBelow: 5, block: null } as const;

/** Of BAD. */
let standing: Compared['standing'];
let shown: ChainBehind;
let before: ChainBehind;
let wasBehind: boolean;
let isDown: boolean;
let asked: SignerId[][];
/** Whether the first blocks were asked for, too. */
let resets: unknown[];
let marked: string[];
let memory: LaneMemory;
let clock: FakeClock;
let hold: HoldBehind;

beforeEach(() => {
  [standing, wasBehind, isDown, asked, resets, marked] = ['behind', false, false, [], [], []];
  [shown, before] = [SHOWN, SHOWN];
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  const shownOf = (signer: SignerId): Compared => {
    const isBad = sameSigner(signer, BAD.signer);
    const behind = isBad && wasBehind ? before : null;
    return {
      books: { signer, begun: true, usedBelow: 5n, block: 1, origin: [], behind },
      standing: isBad ? standing : 'even',
      origin: isBad ? null : ['0xa'],
      shown: isBad ? shown : null,
    };
  };
  hold = new HoldBehind(
    fakeOf(CompareBooks, {
      execute: async (chainId, signers, mayBeReset) => {
        asked.push([...signers]);
        resets.push(mayBeReset);
        if (isDown) throw new RpcUnavailable('rpc_unavailable', { chainId, method: 'any' }, 'no answer');
        return signers.map(shownOf);
      },
    }),
    fakeOf(MarkBehind, {
      behind: async () => void marked.push('behind'),
      caughtUp: async () => void marked.push('caught up'),
      doubted: () => void marked.push('doubted'),
      origin: async () => void marked.push('origin'),
    }),
    fakeOf(LeasedWork, { run: ourWork.run }),
    memory,
    new NonceConfig(),
    clock,
  );
});

it('a lane whose chain is behind does not begin, and is compared again now and then', async () => {
  expect(await hold.admit(DEV_CHAIN, [GOOD, BAD])).toEqual([GOOD]);
  expect(await hold.admit(DEV_CHAIN, [BAD])).toEqual([]);
  expect([asked.length, marked]).toEqual([1, ['origin', 'behind']]);
  clock.advance(2_000);
  standing = 'even';
  wasBehind = true;
  expect(await hold.admit(DEV_CHAIN, [BAD])).toEqual([BAD]);
  expect(marked.slice(2)).toEqual(['caught up']);
});

it('a lane whose chain may be behind waits, and only the log says so, once', async () => {
  standing = 'unknown';
  expect(await hold.admit(DEV_CHAIN, [BAD])).toEqual([]);
  clock.advance(500);
  expect(await hold.admit(DEV_CHAIN, [BAD])).toEqual([]);
  expect(marked).toEqual(['doubted']);
});

it('a lane that goes on is compared again after a while, before anything new of it is sent', async () => {
  standing = 'even';
  await hold.admit(DEV_CHAIN, [BAD]);
  memory.recovered([BAD]);
  await hold.admit(DEV_CHAIN, [BAD]);
  expect(asked).toHaveLength(1);
  standing = 'behind';
  clock.advance(30_000);
  expect([await hold.admit(DEV_CHAIN, [BAD]), memory.needsRecovery(BAD)]).toEqual([[], true]);
});

it('a look has the lane of a signer whose chain may be behind begin again, and no other', async () => {
  memory.recovered([GOOD, BAD]);
  await hold.look(DEV_CHAIN, [GOOD.signer, BAD.signer]);
  expect([memory.needsRecovery(GOOD), memory.needsRecovery(BAD)]).toEqual([false, true]);
});

it('a look without an answer is made up for by the next one', async () => {
  isDown = true;
  await hold.look(DEV_CHAIN, [GOOD.signer]);
  isDown = false;
  await hold.look(DEV_CHAIN, [], false);
  await hold.look(DEV_CHAIN, [], false);
  expect(asked).toEqual([[GOOD.signer], [GOOD.signer]]);
  expect(resets).toEqual([true, true]);
  await hold.look(DEV_CHAIN, [GOOD.signer], false);
  expect(resets.at(-1)).toBe(false);
});

it('a signer that is held is not looked at besides', async () => {
  await hold.admit(DEV_CHAIN, [BAD]);
  await hold.look(DEV_CHAIN, [BAD.signer]);
  expect(asked).toHaveLength(1);
});

it('a signer has a lower nonce from the second look on that shows it, until the chain is even', async () => {
  await hold.admit(DEV_CHAIN, [GOOD, BAD]);
  expect(hold.lower(DEV_CHAIN)).toEqual([]);
  wasBehind = true;
  clock.advance(2_000);
  await hold.admit(DEV_CHAIN, [GOOD, BAD]);
  expect([hold.lower(DEV_CHAIN), hold.lower(DEV_CHAIN + 1)]).toEqual([[BAD.signer], []]);
  clock.advance(2_000);
  standing = 'even';
  await hold.admit(DEV_CHAIN, [BAD]);
  expect(hold.lower(DEV_CHAIN)).toEqual([]);
});

it.each([
  ['it is not known yet', () => void (standing = 'unknown')],
  ['the chain is another one', () => void (shown = { ...SHOWN, cause: 'CHAIN_RESET' })],
  ['it was held for another chain before', () => void (before = { ...SHOWN, cause: 'CHAIN_RESET' })],
] as [string, () => void][])('a signer has no lower nonce while %s', async (_words, change) => {
  wasBehind = true;
  change();
  await hold.admit(DEV_CHAIN, [BAD]);
  expect(hold.lower(DEV_CHAIN)).toEqual([]);
});
