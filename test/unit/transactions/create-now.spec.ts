import { beforeEach, describe, expect, it } from '@jest/globals';
import { IntakeConfig } from '../../../src/config/index.js';
import { TooMany } from '../../../src/kernel/errors.js';
import type { LeaseHolder, LeaseManager, NodeRegistry } from '../../../src/modules/signers/index.js';
import { CreateNow } from '../../../src/modules/transactions/application/create-now.js';
import type { CreateTx } from '../../../src/modules/transactions/application/create-tx.js';
import type { Forwarding } from '../../../src/modules/transactions/application/forwarding.js';
import type { TxQueries } from '../../../src/modules/transactions/application/tx-views.js';
import type { WaitForState } from '../../../src/modules/transactions/application/wait-for-state.js';
import { aRequest } from '../../support/builders.js';

const OWNER: LeaseHolder = { nodeId: 'owner', advertisedUrl: 'http://owner', expiresInMs: 5_000 };

let config: IntakeConfig;
let holder: LeaseHolder | null;
let waiting: () => Promise<void>;
let createNow: CreateNow;

beforeEach(() => {
  config = Object.assign(new IntakeConfig(), { notLeader: 'forward' });
  holder = OWNER;
  waiting = async () => undefined;
  createNow = new CreateNow(
    { execute: async () => ({ txId: 'tx', nonce: null }) } as unknown as CreateTx,
    { held: () => null, isOurs: () => true } as unknown as LeaseManager,
    { holderOf: async () => holder } as unknown as NodeRegistry,
    { forward: async () => ({ status: 202, contentType: 'application/json', body: '{}' }) } as unknown as Forwarding,
    { execute: () => waiting() } as unknown as WaitForState,
    { find: async () => null } as unknown as TxQueries,
    config,
  );
});

async function kindOf(wasForwarded = false): Promise<string> {
  const { kind } = await createNow.execute(aRequest(), { path: '/api/v1/tx', body: {}, wasForwarded });
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
