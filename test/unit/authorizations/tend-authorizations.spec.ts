import { beforeEach, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { AuthorizationSteps } from '../../../src/modules/authorizations/application/authorization-steps.js';
import type { AuthorizationTurns } from '../../../src/modules/authorizations/application/authorization-turns.js';
import { TendAuthorizations } from '../../../src/modules/authorizations/application/tend-authorizations.js';
import type { AuthorizationStore } from '../../../src/modules/authorizations/domain/authorization-store.js';
import type { Grant } from '../../../src/modules/authorizations/domain/grant.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/transactions/index.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

const OPEN = aGrant({ id: 'open', stage: 'open' });

let held: Lease[];
let asked: (readonly SignerId[])[];
let stepped: [Lease, Grant][];
let tend: TendAuthorizations;

beforeEach(() => {
  [held, asked, stepped] = [[LEASE], [], []];
  tend = new TendAuthorizations(
    { heldOn: () => held } as unknown as LeaseManager,
    {
      open: async (_id: unknown, signers: readonly SignerId[]) => (asked.push(signers), [aGrant(), OPEN]),
    } as unknown as AuthorizationStore,
    { begin: (all: readonly Grant[]) => all.filter((grant) => grant !== OPEN) } as unknown as AuthorizationTurns,
    {
      run: async (_id: unknown, items: Grant[], task: (leases: readonly Lease[], share: Grant[]) => Promise<void>) =>
        task(held, items),
    } as unknown as LeasedWork,
    {
      execute: async (_chain: unknown, lease: Lease, grant: Grant) => void stepped.push([lease, grant]),
    } as unknown as AuthorizationSteps,
    { get: () => ({}) } as unknown as Chains,
  );
});

it('each authorization that has something to do makes its step, with the lease of the signer that gives it', async () => {
  await tend.execute(DEV_CHAIN);
  expect([asked, stepped]).toEqual([[[AUTHORITY]], [[LEASE, aGrant()]]]);
});

it('a node without leases asks nothing', async () => {
  held = [];
  await tend.execute(DEV_CHAIN);
  expect([asked, stepped]).toEqual([[], []]);
});
