import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { type Chains, type PermitNonceQuestion, SecondObservations } from '../../../src/modules/chain/index.js';
import { PermitStore, type PermitUse, WriteChanges } from '../../../src/modules/ledger/index.js';
import type { LeasedWork } from '../../../src/modules/ledger/index.js';
import type { MakePermit } from '../../../src/modules/permits/application/make-permit.js';
import { TendPermits } from '../../../src/modules/permits/application/tend-permits.js';
import type { Fence, Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { Pause } from '../../../src/platform/scheduling/pause.js';
import { anAddress, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aMadePermit } from '../../support/permit-builders.js';
import { aPermitUse, LEASE, OWNER, SIGNABLE, TOKEN } from './permit-fixture.js';

let held: Lease[];
let due: PermitUse[];
/** No statement reads their permits in time. */
let slowest: SignerId[];
/** Whose permits were read. */
let read: SignerId[][];
/** By the address of the owner. */
let nonceOf: (owner: string) => Promise<bigint | null>;
/** What happened, in order. */
let calls: unknown[];
/** After which what was put off is looked at again. */
let pauses: number[];
let isAtWork: boolean;
let signs: boolean;
let tend: TendPermits;
/** By the clock of the chain. */
let headS: number | null;
let headNumber: number;
/** Whether one endpoint tells nonces that all are asked for. */
let isAlone: boolean;

const told = (how: string) => (questions: readonly PermitNonceQuestion[]) => {
  calls.push([how, ...questions.map(({ contract, owner }) => `${contract} ${owner}`)]);
  return Promise.all(questions.map(({ owner }) => nonceOf(owner)));
};

/** Passes at once: nobody waits for what is slow. */
const pause: Pause = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(() => {
  [slowest, pauses] = [[], []];
  [held, due, read, calls, isAtWork, signs] = [[LEASE], [], [], [], false, true];
  [nonceOf, headS, headNumber, isAlone] = [async () => 7n, 2_000, 5, false];
  tend = new TendPermits(
    { heldOn: () => held } as unknown as LeaseManager,
    fakeOf(PermitStore, {
      open: async (_id, owners) => {
        read.push([...owners]);
        if (owners.some((owner) => slowest.includes(owner))) throw new Error('too slow');
        return due.filter(({ signer }) => owners.includes(signer));
      },
      withdraw: async (_fence, { id }, pauseMs) => (calls.push(['withdraw', id, pauseMs > 0]), true),
      lapse: async (_fence, { id }) => (calls.push(['lapse', id]), true),
      end: async (_fence, { id }, isUsed) => (calls.push(['end', id, isUsed]), true),
      postpone: async ({ id }, pauseMs) => {
        calls.push(['postpone', id]);
        pauses.push(pauseMs);
      },
    }),
    {
      run: async (
        _id: unknown,
        items: { signer: SignerId }[],
        task: (l: readonly Lease[], s: unknown) => Promise<void>,
      ) => {
        if (items.length === 0) return;
        isAtWork = true;
        const leases = held.filter(({ signer }) => items.some((item) => signerKey(item.signer) === signerKey(signer)));
        await task(leases, items);
        isAtWork = false;
      },
    } as unknown as LeasedWork,
    {
      sign: async ({ id }: PermitUse, _permit: unknown, nonce: bigint) => {
        calls.push(['sign', id, nonce, isAtWork]);
        return signs ? { made: aMadePermit({ permitNonce: nonce }), policyMark: 'mark' } : null;
      },
      give: async ({ signer }: Lease, { id }: PermitUse, { made }: { made: { permitNonce: bigint } }) =>
        void calls.push(['give', signer.address, id, made.permitNonce, isAtWork]),
    } as unknown as MakePermit,
    fakeOf(WriteChanges, {
      underFence: async (leases, operation, changesOf) => {
        calls.push([operation, ...leases.map(({ signer }) => signer.address)]);
        return changesOf({} as Fence);
      },
    }),
    {
      get: () => ({
        permitNonces: told('ask'),
        agreedPermitNonces: async (questions: readonly PermitNonceQuestion[]) =>
          (await told('ask all')(questions)).map((value) => (value === null ? null : { value, isAlone })),
        head: async () => ({ timestamp: headS, number: headNumber }),
      }),
    } as unknown as Chains,
    { pause },
    new SecondObservations(new FakeClock()),
  );
});

const ASKED = ['ask', `${TOKEN} ${OWNER.address}`];
const ALL_ASKED = ['ask all', ...ASKED.slice(1)];
const made = (permitNonce: bigint, deadline = 1_000n + 1_800n): Partial<PermitUse> => ({
  stage: 'made',
  ...{ permitNonce, deadline },
  permit: { ...SIGNABLE, made: aMadePermit({ permitNonce, deadline }) },
});
const ID = aPermitUse().id;
const MADE_ANEW = [ASKED, ['sign', ID, 7n, false], ['give', OWNER.address, ID, 7n, true]];

async function tended(overrides: Partial<PermitUse>): Promise<unknown[]> {
  due = [aPermitUse(overrides)];
  await tend.execute(DEV_CHAIN);
  return calls;
}

describe('a permit', () => {
  it('that is wanted is signed before the worker of its owner is taken, with the nonce of its contract', async () => {
    expect(await tended({})).toEqual(MADE_ANEW);
    expect(read).toEqual([[OWNER]]);
  });

  it('that is not signed is not stored', async () => {
    signs = false;
    expect(await tended({})).toEqual([ASKED, ['sign', ID, 7n, false]]);
  });

  it('whose contract tells no nonce is wanted again later', async () => {
    nonceOf = async () => null;
    expect(await tended({})).toEqual([ASKED, ['postpone', ID]]);
  });

  it.each([
    ['has the nonce of its contract and half of its time stays', made(7n), [ASKED]],
    ['has less than half of its time left is made anew', made(7n, 1_000n + 1_799n), MADE_ANEW],
    ['has a nonce that was used is made anew', made(6n), MADE_ANEW],
    ['has a nonce that the contract has not come to is made anew', made(8n), MADE_ANEW],
  ])('that %s', async (_what, use, expected) => {
    expect(await tended(use)).toEqual(expected);
  });

  it('stays while nobody tells the nonce of its contract, which is asked again later', async () => {
    nonceOf = async () => null;
    expect(await tended(made(6n))).toEqual([ASKED, ['postpone', ID]]);
  });

  it('that was sent before its commit was lost is wanted when its tx waits again', async () => {
    expect(await tended({ stage: 'wanted', permitNonce: null })).toEqual(MADE_ANEW);
  });

  it('ends unused without a word of its contract a day after its deadline by the clock of the chain, and not before', async () => {
    nonceOf = async () => null;
    // Its request may be another one by now.
    const use = { ...made(7n, 1_000n), permit: null, stage: 'ended' } as const;
    headS = 1_000 + 86_400;
    expect(await tended(use)).toEqual([ALL_ASKED, ['postpone', ID]]);
    [calls, headS] = [[], null];
    expect(await tended(use)).toEqual([ALL_ASKED, ['postpone', ID]]);
    [calls, headS] = [[], 1_001 + 86_400];
    expect(await tended(use)).toEqual([ALL_ASKED, ['end_permit', OWNER.address], ['end', ID, false]]);
  });

  it('of a tx in flight leaves its nonce to others a day after its deadline, also by the clock of the chain, whatever its contract tells', async () => {
    const use = { ...made(7n, 1_000n), stage: 'over' } as const;
    headS = 1_000 + 86_400;
    expect(await tended(use)).toEqual([['postpone', ID]]);
    [calls, headS] = [[], 1_001 + 86_400];
    expect(await tended(use)).toEqual([
      ['end_permit', OWNER.address],
      ['lapse', ID],
    ]);
  });

  it('that is overdue is taken back', async () => {
    expect(await tended({ ...made(7n), stage: 'overdue' })).toEqual([
      ['end_permit', OWNER.address],
      ['withdraw', ID, true],
    ]);
  });

  it.each<[string, bigint | null, bigint | null, unknown[]]>([
    [
      'was used',
      7n,
      8n,
      [
        ['end_permit', OWNER.address],
        ['end', ID, true],
      ],
    ],
    [
      'was not used',
      7n,
      7n,
      [
        ['end_permit', OWNER.address],
        ['end', ID, false],
      ],
    ],
    ['is not told', 7n, null, [['postpone', ID]]],
    [
      'was never taken',
      null,
      null,
      [
        ['end_permit', OWNER.address],
        ['end', ID, false],
      ],
    ],
  ])('of a tx that has ended ends as its contract says: its nonce %s', async (_what, permitNonce, next, expected) => {
    nonceOf = async () => next;
    const asked = permitNonce === null ? [] : [ALL_ASKED];
    expect(await tended({ stage: 'ended', permit: null, permitNonce })).toEqual([...asked, ...expected]);
  });
});

it('the end of one that endpoints do not agree on is never put off for long, however often it was taken back before', async () => {
  nonceOf = async () => null;
  await tended({ stage: 'ended', permitNonce: 7n, tries: 20 });
  expect(pauses.at(-1)).toBeLessThan(60_000);
  await tended({ stage: 'made', permitNonce: 7n, tries: 20 });
  expect(pauses.at(-1)).toBeGreaterThan(300_000);
});

it('of those that are wanted of one contract the oldest one is signed in a look', async () => {
  const other = anAddress(0x71);
  due = [
    aPermitUse(),
    aPermitUse({ id: 'younger' }),
    aPermitUse({ id: 'elsewhere', contract: other }),
    aPermitUse({ ...made(6n), id: 'made' }),
  ];
  await tend.execute(DEV_CHAIN);
  const signed = calls.flatMap((call) => (Array.isArray(call) && call[0] === 'sign' ? [call[1]] : []));
  expect(signed).toEqual([ID, 'elsewhere', 'made']);
});

it('what one endpoint tells alone ends one only when it tells it again at a later block', async () => {
  isAlone = true;
  const use = { stage: 'ended', permitNonce: 7n } as const;
  const look = async (told: bigint, at: number) => {
    [nonceOf, calls, headNumber] = [async () => told, [], at];
    return (await tended(use)).at(-1);
  };
  expect(await look(8n, 5)).toEqual(['postpone', ID]);
  expect(await look(8n, 5)).toEqual(['postpone', ID]);
  expect(await look(7n, 6)).toEqual(['postpone', ID]);
  expect(await look(7n, 7)).toEqual(['end', ID, false]);
});

it('an owner whose contract does not answer holds up no other one, and is not asked twice', async () => {
  const slow = aSigner(3);
  held = [LEASE, { ...LEASE, signer: slow }];
  due = [aPermitUse({ id: 'slow', signer: slow }), aPermitUse()];
  let answer: (nonce: bigint) => void = () => undefined;
  nonceOf = (owner) => (owner === slow.address ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(7n));
  await tend.execute(DEV_CHAIN);
  expect(calls).toContainEqual(['give', OWNER.address, ID, 7n, true]);
  await tend.execute(DEV_CHAIN);
  expect(read).toEqual([[OWNER, slow], [OWNER]]);
  answer(9n);
  await pause(0);
  expect(calls).toContainEqual(['give', slow.address, 'slow', 9n, true]);
  await tend.execute(DEV_CHAIN);
  expect(read.at(-1)).toEqual([OWNER, slow]);
});

it('what fails for an owner is told, and does not keep it busy', async () => {
  due = [aPermitUse()];
  nonceOf = async () => Promise.reject(new Error('no'));
  await expect(tend.execute(DEV_CHAIN)).rejects.toThrow('no');
  nonceOf = async () => 7n;
  await tend.execute(DEV_CHAIN);
  expect(calls).toContainEqual(['give', OWNER.address, ID, 7n, true]);
});

it('a node without leases reads nothing', async () => {
  held = [];
  await tend.execute(DEV_CHAIN);
  expect([read, calls]).toEqual([[], []]);
});

it('an owner whose permits are not read in time is told, and soon holds up no other one', async () => {
  const poor = aSigner(3);
  [held, slowest, due] = [[{ ...LEASE, signer: poor }, LEASE], [poor], [aPermitUse()]];
  for (let looks = 0; looks < 10; looks += 1) await expect(tend.execute(DEV_CHAIN)).rejects.toThrow('too slow');
  expect(calls).toContainEqual(['give', OWNER.address, ID, 7n, true]);
});
