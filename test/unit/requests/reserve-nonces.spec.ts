import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import type { TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { CreateTx } from '../../../src/modules/requests/application/create-tx.js';
import { CreationLimits } from '../../../src/modules/requests/application/creation-limits.js';
import { ReserveNonces } from '../../../src/modules/requests/application/reserve-nonces.js';
import { StoredRequests } from '../../../src/modules/requests/application/stored-requests.js';
import { WaitForState } from '../../../src/modules/requests/application/wait-for-state.js';
import { TooMany } from '../../../src/kernel/errors.js';
import { aCreatedTx, aHash, aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const INPUT = { signer: aSigner(), sender: ANYONE, requestId: 'r', count: 3, ttl: 60, metadata: { a: 1 } };
const STAYING = new AbortController().signal;

let calls: unknown[][];
let refused: string | null;
let known: readonly string[];
let created: Partial<ReturnType<typeof aCreatedTx>>;
let waiting: () => Promise<void>;
let reserve: ReserveNonces;

beforeEach(() => {
  [calls, refused, known, created, waiting] = [[], null, [], {}, async () => undefined];
  const idOf = (request: Pick<TxRequest, 'requestId'>) => `id of ${request.requestId}`;
  reserve = new ReserveNonces(
    fakeOf(CreateTx, {
      prepare: async (request) => ({ txId: idOf(request), request: { ...request, requestHash: aHash(1) }, bytes: 1 }),
      store: async ({ txId, request }, together) => {
        calls.push(['store', request.requestId, together === null ? 'alone' : 'together', request.hold]);
        if (refused === request.requestId) throw new Error(`${refused} is refused`);
        await Promise.resolve();
        calls.push(['stored', request.requestId]);
        return aCreatedTx({ txId, ...created });
      },
    }),
    fakeOf(CreationLimits, {
      admit: async ({ signer }, _isRepeated, count) => void calls.push(['admit', signer, count]),
    }),
    fakeOf(StoredRequests, {
      lookUp:
        ({ requestId }) =>
        async () =>
          known.includes(requestId),
    }),
    fakeOf(WaitForState, { execute: (txId, state, ms) => (calls.push(['wait', txId, state, ms]), waiting()) }),
    fakeOf(ManagedTxRepository, {
      requested: async (ids) => (
        calls.push(['read', ...ids]),
        ids.map((id) => ({ tx: aManagedTx({ txId: id }).build(), request: aRequest() }))
      ),
    }),
  );
});

const named = (name: string) => calls.filter(([first]) => first === name);

describe('a reservation of several nonces', () => {
  it('is counted at once for all, and stored with the first of them before the others, which are stored together', async () => {
    const { holds, isNew } = await reserve.execute(INPUT, STAYING);
    expect([holds.map(({ tx }) => tx.id), isNew]).toEqual([['id of r', 'id of r\u001f1', 'id of r\u001f2'], true]);
    expect(named('admit')).toEqual([['admit', INPUT.signer, 3]]);
    expect(named('read')).toEqual([['read', 'id of r', 'id of r\u001f1', 'id of r\u001f2']]);
    const hold = (index: number) => ({ ttl: 60, count: 3, index });
    expect(calls.filter(([name]) => name === 'store' || name === 'stored')).toEqual([
      ['store', 'r', 'alone', hold(0)],
      ['stored', 'r'],
      ['store', 'r\u001f1', 'together', hold(1)],
      ['store', 'r\u001f2', 'together', hold(2)],
      ['stored', 'r\u001f1'],
      ['stored', 'r\u001f2'],
    ]);
  });

  it('stores nothing else when the first is refused', async () => {
    refused = 'r';
    await expect(reserve.execute(INPUT, STAYING)).rejects.toThrow('r is refused');
    expect(named('store')).toHaveLength(1);
  });

  it('that is repeated is answered with what is stored, when the rest is refused', async () => {
    [refused, known] = ['r\u001f2', ['r', 'r\u001f1']];
    expect((await reserve.execute(INPUT, STAYING)).holds.map(({ tx }) => tx.id)).toEqual(['id of r', 'id of r\u001f1']);
    known = [];
    await expect(reserve.execute(INPUT, STAYING)).rejects.toThrow('is refused');
  });

  it('waits once, for the nonce of the last that has none yet, and of no paused signer', async () => {
    await reserve.execute(INPUT, STAYING);
    expect(named('wait')).toEqual([['wait', 'id of r\u001f2', 'ALLOCATED', 5_000]]);
    for (const one of [{ nonce: 0n }, { isPaused: true }]) {
      [calls, created] = [[], one];
      await reserve.execute(INPUT, STAYING);
      expect(named('wait')).toEqual([]);
    }
  });

  it('is answered as it is when too many wait already, for it is stored', async () => {
    waiting = () => Promise.reject(new TooMany('too_many_waiters', 'many', 'later'));
    expect((await reserve.execute(INPUT, STAYING)).holds).toHaveLength(3);
  });
});
