import { beforeEach, describe, expect, it } from '@jest/globals';
import { TooMany } from '../../../src/kernel/errors.js';
import { NotLeader } from '../../../src/modules/signers/index.js';
import { CreateNow } from '../../../src/modules/transactions/application/intake/create-now.js';
import type { CreateTx } from '../../../src/modules/transactions/application/intake/create-tx.js';
import type { ForwardToOwner } from '../../../src/modules/transactions/application/intake/forward-to-owner.js';
import type { ForwardedAnswer } from '../../../src/modules/transactions/application/intake/forwarding.js';
import type { TxQueries, TxView } from '../../../src/modules/transactions/application/queries/tx-views.js';
import type { WaitForState } from '../../../src/modules/transactions/application/queries/wait-for-state.js';
import { aRequest } from '../../support/builders.js';

const ANSWER = { status: 202, contentType: 'application/json', body: '{}' };
const VIEW = { txId: 'tx' } as TxView;
const REQUEST = aRequest();
const ORIGINAL = { path: '/api/v1/tx', body: { requestId: 'r' }, wasForwarded: false };

/** What the owner answers, or this node about it; null while this node is to serve the request. */
let passedOn: () => Promise<ForwardedAnswer | null>;
let waiting: () => Promise<void>;
/** What the create is answered with. */
let created: { txId: string; nonce: bigint | null; isPaused: boolean };
let calls: unknown[][];
let createNow: CreateNow;

beforeEach(() => {
  [passedOn, waiting] = [async () => null, async () => undefined];
  [created, calls] = [{ txId: 'tx', nonce: null, isPaused: false }, []];
  createNow = new CreateNow(
    { execute: async (request: unknown) => (calls.push(['create', request]), created) } as unknown as CreateTx,
    { execute: (...args: unknown[]) => (calls.push(['owner', ...args]), passedOn()) } as unknown as ForwardToOwner,
    { execute: (...args: unknown[]) => (calls.push(['wait', ...args]), waiting()) } as unknown as WaitForState,
    { find: async (id: string) => (calls.push(['find', id]), VIEW) } as unknown as TxQueries,
  );
});

const execute = () => createNow.execute(REQUEST, ORIGINAL);

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
    created = { txId: 'tx', nonce: 0n, isPaused: false };
    await execute();
    expect(calls.map(([name]) => name)).toEqual(['owner', 'create', 'find']);
  });

  it('does not wait for the nonce of a paused signer', async () => {
    created = { txId: 'tx', nonce: null, isPaused: true };
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
