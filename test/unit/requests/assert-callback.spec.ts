import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { AssertCallback } from '../../../src/modules/requests/application/assert-callback.js';
import { CallbackEndpoints } from '../../../src/modules/requests/application/callback-endpoints.js';
import { TxQueries } from '../../../src/modules/ledger/application/views/tx-views.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aTxView } from '../../support/view-builders.js';

class Known extends CallbackEndpoints {
  readonly asked: (readonly string[])[] = [];

  override async existing(endpointIds: readonly string[]): Promise<ReadonlySet<string>> {
    this.asked.push(endpointIds);
    if (endpointIds.includes('broken')) throw new Error('no database');
    return new Set(endpointIds.filter((id) => id.startsWith('known')));
  }
}

const endpoints = new Known();
const stored = fakeOf(TxQueries, {
  findByRequest: async (_signer, requestId) => (requestId === 'stored' ? aTxView({}) : null),
});
const asking = new AssertCallback(endpoints, stored);
const assertCallback = {
  execute: ({ callback, requestId = 'new' }: { callback?: string; requestId?: string }) =>
    asking.execute({ signer: aSigner(), sender: ANYONE, requestId, ...(callback !== undefined && { callback }) }),
};

it('asks nothing for a request without a callback, and once for many in one go', async () => {
  await assertCallback.execute({});
  const callbacks = ['known', 'known', 'known-2', 'known-3'];
  await Promise.all(callbacks.map((callback) => assertCallback.execute({ callback })));
  expect(endpoints.asked).toEqual([['known', 'known-2', 'known-3']]);
  await assertCallback.execute({ callback: 'known' });
  expect(endpoints.asked.length).toBe(2);
});

it('refuses an endpoint that is not there, and not the others that are asked for in the same go', async () => {
  const others = assertCallback.execute({ callback: 'known' });
  await expect(assertCallback.execute({ callback: 'gone' })).rejects.toMatchObject({
    code: 'unknown_webhook',
    kind: 'unprocessable',
  });
  await others;
});

it('lets a repeated request pass whose endpoint was deleted after it was stored', async () => {
  await assertCallback.execute({ callback: 'gone', requestId: 'stored' });
});

it('asks again after a failure', async () => {
  await expect(assertCallback.execute({ callback: 'broken' })).rejects.toThrow('no database');
  await assertCallback.execute({ callback: 'known' });
});
