import { beforeEach, describe, expect, it } from '@jest/globals';
import { IntakeConfig } from '../../../src/config/index.js';
import { TooMany } from '../../../src/kernel/errors.js';
import type { Lease, LeaseHolder, LeaseManager, NodeRegistry } from '../../../src/modules/signers/index.js';
import { CreateNow } from '../../../src/modules/transactions/application/intake/create-now.js';
import type { CreateTx } from '../../../src/modules/transactions/application/intake/create-tx.js';
import type { Forwarding } from '../../../src/modules/transactions/application/intake/forwarding.js';
import type { TxQueries, TxView } from '../../../src/modules/transactions/application/queries/tx-views.js';
import type { WaitForState } from '../../../src/modules/transactions/application/queries/wait-for-state.js';
import { aRequest } from '../../support/builders.js';

const OWNER: LeaseHolder = { nodeId: 'owner', advertisedUrl: 'http://owner', expiresInMs: 5_000 };
const ANSWER = { status: 202, contentType: 'application/json', body: '{}' };
const VIEW = { txId: 'tx' } as TxView;
const REQUEST = aRequest();
const ORIGINAL = { path: '/api/v1/tx', body: { requestId: 'r' } };

let config: IntakeConfig;
let holder: LeaseHolder | null;
let waiting: () => Promise<void>;
let held: Lease | null;
let isOurs: boolean;
/** What the create is answered with. */
let created: { txId: string; nonce: bigint | null };
let calls: unknown[][];
let createNow: CreateNow;

beforeEach(() => {
  config = Object.assign(new IntakeConfig(), { notLeader: 'forward' });
  holder = OWNER;
  waiting = async () => undefined;
  [held, isOurs, created, calls] = [null, true, { txId: 'tx', nonce: null }, []];
  createNow = new CreateNow(
    { execute: async (request: unknown) => (calls.push(['create', request]), created) } as unknown as CreateTx,
    { held: () => held, isOurs: () => isOurs } as unknown as LeaseManager,
    { holderOf: async (signer: unknown) => (calls.push(['holder', signer]), holder) } as unknown as NodeRegistry,
    { forward: async (...args: unknown[]) => (calls.push(['forward', ...args]), ANSWER) } as unknown as Forwarding,
    { execute: (...args: unknown[]) => (calls.push(['wait', ...args]), waiting()) } as unknown as WaitForState,
    { find: async (id: string) => (calls.push(['find', id]), VIEW) } as unknown as TxQueries,
    config,
  );
});

async function kindOf(wasForwarded = false): Promise<string> {
  const { kind } = await createNow.execute(REQUEST, { ...ORIGINAL, wasForwarded });
  return kind;
}

describe('a create at a node that does not act for the signer', () => {
  it('is passed on to the owner, or stored here when nobody is known to be it', async () => {
    expect(await kindOf()).toBe('forwarded');
    for (const nobody of [null, { ...OWNER, advertisedUrl: null }]) {
      holder = nobody;
      expect(await kindOf()).toBe('created');
    }
  });

  it('is not passed on a second time: two nodes that take each other for the owner would do so for ever', async () => {
    expect(await kindOf(true)).toBe('created');
  });

  it('is stored where the config says so, and refused where it says that', async () => {
    config.notLeader = 'accept';
    expect(await kindOf()).toBe('created');
    config.notLeader = 'reject';
    await expect(kindOf()).rejects.toMatchObject({ code: 'not_leader' });
  });

  it('is answered as it is when too many wait already, for it is stored', async () => {
    holder = null;
    waiting = () => Promise.reject(new TooMany('too_many_waiters', 'many', 'later'));
    expect(await kindOf()).toBe('created');
    waiting = () => Promise.reject(new Error('another'));
    await expect(kindOf()).rejects.toThrow('another');
  });
});

describe('a create that is to be answered with its nonce', () => {
  const execute = () => createNow.execute(REQUEST, { ...ORIGINAL, wasForwarded: false });

  it('is answered by the owner with what was sent to it', async () => {
    expect(await execute()).toEqual({ kind: 'forwarded', answer: ANSWER });
    expect(calls).toEqual([
      ['holder', REQUEST.signer],
      ['forward', OWNER, ORIGINAL.path, ORIGINAL.body],
    ]);
  });

  it('is stored and waited for by the owner itself, which asks nobody who that is', async () => {
    for (const notLeader of ['forward', 'reject', 'accept'] as const) {
      [config.notLeader, calls] = [notLeader, []];
      held = { signer: REQUEST.signer, owner: 'node', token: 1n };
      expect(await execute()).toEqual({ kind: 'created', tx: created, view: VIEW });
      expect(calls).toEqual([
        ['create', REQUEST],
        ['wait', 'tx', 'ALLOCATED', 5_000],
        ['find', 'tx'],
      ]);
    }
  });

  it('does not wait for a nonce that it has already', async () => {
    [holder, created] = [null, { txId: 'tx', nonce: 0n }];
    await execute();
    expect(calls.map(([name]) => name)).toEqual(['holder', 'create', 'find']);
  });

  it('is refused by a node that may not take a lease that nobody holds, and taken by one that may', async () => {
    [config.notLeader, holder, isOurs] = ['reject', null, false];
    await expect(execute()).rejects.toMatchObject({ code: 'not_leader', facts: { ownerNodeId: null } });
    isOurs = true;
    expect(await execute()).toMatchObject({ kind: 'created' });
  });
});
