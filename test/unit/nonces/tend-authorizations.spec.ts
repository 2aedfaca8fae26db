import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { AuthorizationTurns } from '../../../src/modules/nonces/application/authorization-turns.js';
import type { EndAuthorization } from '../../../src/modules/nonces/application/end-authorization.js';
import type { GrantAuthorization } from '../../../src/modules/nonces/application/grant-authorization.js';
import { TendAuthorizations } from '../../../src/modules/nonces/application/tend-authorizations.js';
import type { AuthorizationStore, Grant, GrantStage } from '../../../src/modules/ledger/domain/authorization-store.js';
import type { AgreedCount, Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/ledger/index.js';
import { SignerPolicies, toPolicy } from '../../../src/modules/policies/index.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

const OPEN = aGrant({ id: 'open', stage: 'open' });
const COUNT: AgreedCount = { nonce: 7n, block: { number: 1, hash: aHash(1) } };

let held: Lease[];
let asked: (readonly SignerId[])[];
/** What each look found. */
let begun: (readonly Grant[])[];
let stepped: [Lease, Grant, AgreedCount | null][];
/** What the authorities have to do. */
let due: Grant[];
/** Whose counts were asked for, and whether that was on a worker. */
let counted: [readonly string[], boolean][];
let isAtWork: boolean;
/** What became of the authorizations, and whether a step of them succeeds. */
let calls: string[];
let succeeds: boolean;
let isOver: boolean;
let isSigning: boolean;
let policies: ReturnType<PolicySet['of']>;
let tend: TendAuthorizations;

beforeEach(() => {
  [held, asked, stepped, due, counted, isAtWork] = [[LEASE], [], [], [aGrant()], [], false];
  [calls, succeeds, isOver, policies, isSigning, begun] = [[], true, false, [], true, []];
  const steps = async (lease: Lease, grant: Grant, agreed: AgreedCount | null): Promise<boolean> => {
    stepped.push([lease, grant, agreed]);
    return succeeds;
  };
  tend = new TendAuthorizations(
    { heldOn: () => held } as unknown as LeaseManager,
    {
      open: async (_id: unknown, signers: readonly SignerId[]) => (asked.push(signers), [...due, OPEN]),
      postpone: async (_grant: Grant, pauseMs: number) => void calls.push(`postpone ${String(pauseMs)}`),
    } as unknown as AuthorizationStore,
    {
      begin: (_id: unknown, all: readonly Grant[]) => (begun.push(all), all.filter((grant) => grant !== OPEN)),
      isOver: () => isOver,
      signed: ({ stage }: Grant) => void calls.push(`signed ${stage}`),
      wasMined: ({ stage }: Grant) => void calls.push(`mined ${stage}`),
      ended: ({ stage }: Grant) => void calls.push(`ended ${stage}`),
      gaveUp: (signer: SignerId) => void calls.push(`gave up ${signer.address}`),
    } as unknown as AuthorizationTurns,
    {
      run: async (_id: unknown, items: Grant[], task: (leases: readonly Lease[], share: Grant[]) => Promise<void>) => {
        isAtWork = true;
        await task(held, items);
      },
    } as unknown as LeasedWork,
    {
      execute: (_chain: unknown, ...step: Parameters<typeof steps>) => steps(...step),
      isSigning: () => isSigning,
    } as unknown as GrantAuthorization,
    {
      execute: steps,
      endTime: async (_lease: Lease, { stage }: Grant) => void calls.push(`end time ${stage}`),
    } as unknown as EndAuthorization,
    {
      get: () => ({
        agreedCounts: async (addresses: readonly string[]) => (
          counted.push([addresses, isAtWork]),
          addresses.map(() => COUNT)
        ),
      }),
    } as unknown as Chains,
    fakeOf(SignerPolicies, { present: fakeOf(PolicySet, { of: () => policies, mark: 'now' }) }),
  );
});

it('each authorization that has something to do makes its step, with the lease of the signer that gives it', async () => {
  await tend.execute(DEV_CHAIN);
  expect([asked, stepped]).toEqual([[[AUTHORITY]], [[LEASE, aGrant(), COUNT]]]);
});

it('a node without leases asks nothing', async () => {
  held = [];
  await tend.execute(DEV_CHAIN);
  expect([asked, stepped]).toEqual([[], []]);
  // What it held back before is another node's.
  expect(begun).toEqual([[]]);
});

it('the chain is asked once, before any worker of the signers is taken, and only about those that need it', async () => {
  const mined = aGrant({ signer: aSigner(3), stage: 'mined', nonce: 1n });
  const busy = aGrant({ signer: aSigner(4), isReady: false });
  const unsigned = aGrant({ signer: aSigner(5), stage: 'ended' });
  const overdue = aGrant({ signer: aSigner(6), stage: 'overdue', nonce: 7n });
  const inTheWay = aGrant({ signer: aSigner(8), stage: 'in_the_way', nonce: 7n });
  due = [aGrant(), aGrant({ stage: 'ended', nonce: 6n }), mined, busy, unsigned, overdue, inTheWay];
  held = due.map(({ signer }) => ({ ...LEASE, signer }));
  await tend.execute(DEV_CHAIN);
  expect(counted).toEqual([[[AUTHORITY.address, aSigner(6).address], false]]);
  expect(stepped.map(([, , agreed]) => agreed)).toEqual([COUNT, COUNT, null, null, COUNT]);
});

it('nobody is asked when nothing depends on the chain', async () => {
  due = [aGrant({ isReady: false })];
  await tend.execute(DEV_CHAIN);
  expect([counted, stepped]).toEqual([[], [[LEASE, due[0], null]]]);
});

describe('an authorization', () => {
  const step = async (stage: GrantStage) => {
    due = [aGrant({ stage })];
    await tend.execute(DEV_CHAIN);
  };

  it('that is wanted is signed, waits for its nonce otherwise, and only so long', async () => {
    await step('wanted');
    succeeds = false;
    await step('wanted');
    isOver = true;
    await step('wanted');
    expect(calls).toEqual(['signed wanted', 'postpone 7500', `gave up ${AUTHORITY.address}`]);
    expect(stepped).toHaveLength(3);
  });

  it('that is signed needs nothing while its tx is in flight, and is noted when its tx is mined', async () => {
    await step('open');
    await step('mined');
    expect([stepped, calls]).toEqual([[], ['mined mined']]);
  });

  it('whose tx is in the way has the time of that ended, and nothing else', async () => {
    await step('in_the_way');
    expect([stepped, calls]).toEqual([[], ['end time in_the_way']]);
  });

  it.each<GrantStage>(['overdue', 'ended'])('is ended when it is %s, and its turn then', async (stage) => {
    await step(stage);
    succeeds = false;
    await step(stage);
    expect([stepped.length, calls]).toEqual([2, [`ended ${stage}`]]);
  });
});

it('a signer whose key outside senders have is not held back for what nobody signs', async () => {
  isSigning = false;
  await tend.execute(DEV_CHAIN);
  expect([stepped, calls]).toEqual([[], ['postpone 7500', `gave up ${AUTHORITY.address}`]]);
});

it('a signer whose policy allows no authorizations signs none, unless the policy only reports', async () => {
  const forbidden = toPolicy({});
  policies = [forbidden];
  await tend.execute(DEV_CHAIN);
  // Its payloads are not held back for what it never signs.
  expect([stepped, calls]).toEqual([[], ['postpone 7500', `gave up ${AUTHORITY.address}`]]);
  for (const allowing of [{ authorizations: true }, { dryRun: true }]) {
    policies = [{ ...forbidden, ...allowing }];
    await tend.execute(DEV_CHAIN);
  }
  expect(stepped).toHaveLength(2);
  policies = [{ ...forbidden, authorizations: true }, forbidden];
  await tend.execute(DEV_CHAIN);
  expect(stepped).toHaveLength(2);
});
