import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { TooMany } from '../../../src/kernel/errors.js';
import { NotLeader } from '../../../src/modules/signers/index.js';
import { CreateNow } from '../../../src/modules/requests/application/create-now.js';
import { CreateTx, type CreatedTx } from '../../../src/modules/requests/application/create-tx.js';
import { ForwardToOwner } from '../../../src/modules/requests/application/forward-to-owner.js';
import type { ForwardedAnswer } from '../../../src/modules/requests/application/forwarding.js';
import { TxQueries } from '../../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../../src/modules/requests/application/wait-for-state.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aRequest, aCreatedTx } from '../../support/builders.js';
import { aTxView } from '../../support/view-builders.js';

const ANSWER = { status: 202, headers: { 'content-type': 'application/json' }, body: '{}' };
const VIEW = aTxView();
const REQUEST = aRequest();
const ORIGINAL = { path: '/api/v1/tx', body: { requestId: 'r' }, caller: ANYONE, wasForwarded: false };

/** What the owner answers, or this node about it; null while this node is to serve the request. */
let passedOn: () => Promise<ForwardedAnswer | null>;
let waiting: () => Promise<void>;
/** What the create is answered with. */
let created: CreatedTx;
let calls: unknown[][];
let createNow: CreateNow;

beforeEach(() => {
  [passedOn, waiting] = [async () => null, async () => undefined];
  [created, calls] = [aCreatedTx({ txId: 'tx' }), []];
  createNow = new CreateNow(
    fakeOf(CreateTx, { execute: async (request) => (calls.push(['create', request]), created) }),
    fakeOf(ForwardToOwner, { execute: (...args) => (calls.push(['owner', ...args]), passedOn()) }),
    fakeOf(WaitForState, { execute: (...args) => (calls.push(['wait', ...args]), waiting()) }),
    fakeOf(TxQueries, { find: async (id) => (calls.push(['find', id]), VIEW) }),
  );
});

const execute = () => createNow.execute(REQUEST, async () => false, ORIGINAL);

describe('a create that is to be answered with its nonce', () => {
  it('is answered by the owner when it was passed on, and nothing is stored here', async () => {
    passedOn = async () => ANSWER;
    expect(await execute()).toEqual({ kind: 'forwarded', answer: ANSWER });
    expect(calls).toEqual([['owner', REQUEST.signer, ORIGINAL]]);
  });

  it('is not stored where it is refused', async () => {
    passedOn = () => Promise.reject(new NotLeader(REQUEST.signer, null));
    await expect(execute()).rejects.toMatchObject({ code: 'not_leader' });
    expect(calls).toHaveLength(1);
  });

  it('is stored and waited for by whoever serves it', async () => {
    expect(await execute()).toEqual({ kind: 'created', tx: created, view: VIEW });
    expect(calls.slice(1)).toEqual([
      ['create', REQUEST],
      ['wait', 'tx', 'ALLOCATED', 5_000],
      ['find', 'tx'],
    ]);
  });

  it('does not wait for a nonce that it has already', async () => {
    created = aCreatedTx({ txId: 'tx', nonce: 0n });
    await execute();
    expect(calls.map(([name]) => name)).toEqual(['owner', 'create', 'find']);
  });

  it('does not wait for the nonce of a paused signer', async () => {
    created = aCreatedTx({ txId: 'tx', isPaused: true });
    expect(await execute()).toEqual({ kind: 'created', tx: created, view: VIEW });
    expect(calls.map(([name]) => name)).toEqual(['owner', 'create', 'find']);
  });

  it('is answered as it is when too many wait already, for it is stored', async () => {
    waiting = () => Promise.reject(new TooMany('too_many_waiters', 'many', 'later'));
    expect(await execute()).toMatchObject({ kind: 'created' });
    waiting = () => Promise.reject(new Error('another'));
    await expect(execute()).rejects.toThrow('another');
  });
});
