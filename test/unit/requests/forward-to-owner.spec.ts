import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { IntakeConfig } from '../../../src/config/index.js';
import { type Lease, type LeaseHolder, LeaseManager, NodeRegistry } from '../../../src/modules/signers/index.js';
import { ForwardToOwner } from '../../../src/modules/requests/application/forward-to-owner.js';
import { Forwarding } from '../../../src/modules/requests/application/forwarding.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';

const OWNER: LeaseHolder = { nodeId: 'owner', advertisedUrl: 'http://owner', expiresInMs: 5_000 };
const ANSWER = { status: 202, headers: { 'content-type': 'application/json' }, body: '{}' };
const ORIGINAL = { path: '/api/v1/tx', body: { requestId: 'r' }, caller: ANYONE, wasForwarded: false };
const SIGNER = aSigner();

let config: IntakeConfig;
let holder: LeaseHolder | null;
let held: Lease | null;
let isOurs: boolean;
let calls: unknown[][];
let owner: ForwardToOwner;

beforeEach(() => {
  config = Object.assign(new IntakeConfig(), { notLeader: 'forward' });
  [holder, held, isOurs, calls] = [OWNER, null, true, []];
  owner = new ForwardToOwner(
    fakeOf(LeaseManager, { held: () => held, isOurs: () => isOurs }),
    fakeOf(NodeRegistry, { holderOf: async (signer) => (calls.push(['holder', signer]), holder) }),
    fakeOf(Forwarding, { forward: async (...args) => (calls.push(['forward', ...args]), ANSWER) }),
    config,
  );
});

const execute = (wasForwarded = false) => owner.execute(SIGNER, { ...ORIGINAL, wasForwarded });

describe('a request at a node that does not act for the signer', () => {
  it('is passed on to the owner as it came, and has its answer', async () => {
    expect(await execute()).toEqual(ANSWER);
    expect(calls).toEqual([
      ['holder', SIGNER],
      ['forward', OWNER, ORIGINAL],
    ]);
  });

  it('is served here when nobody is known to be the owner, or nobody says where it is', async () => {
    for (const nobody of [null, { ...OWNER, advertisedUrl: null }]) {
      holder = nobody;
      expect(await execute()).toBeNull();
    }
  });

  it('is not passed on a second time: two nodes that take each other for the owner would do so for ever', async () => {
    expect([await execute(true), calls]).toEqual([null, []]);
  });

  it('is served here where the config says so, and refused where it says that', async () => {
    config.notLeader = 'accept';
    expect([await execute(), calls]).toEqual([null, []]);
    config.notLeader = 'reject';
    await expect(execute()).rejects.toMatchObject({ code: 'not_leader', facts: { ownerNodeId: 'owner' } });
  });

  it('is refused by a node that may not take a lease that nobody holds, and served by one that may', async () => {
    [config.notLeader, holder, isOurs] = ['reject', null, false];
    await expect(execute()).rejects.toMatchObject({ code: 'not_leader', facts: { ownerNodeId: null } });
    isOurs = true;
    expect(await execute()).toBeNull();
  });
});

it('the owner itself serves every request, and asks nobody who that is', async () => {
  held = { signer: SIGNER, owner: 'node', token: 1n };
  for (const notLeader of ['forward', 'reject', 'accept'] as const) {
    config.notLeader = notLeader;
    expect([await execute(), calls]).toEqual([null, []]);
  }
});
