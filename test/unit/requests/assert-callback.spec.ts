import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { AssertCallback } from '../../../src/modules/requests/application/assert-callback.js';
import { type Callback, CallbackEndpoints } from '../../../src/modules/requests/application/callback-endpoints.js';

class Known extends CallbackEndpoints {
  readonly asked: (readonly string[])[] = [];

  override async exist(callbacks: readonly Callback[]): Promise<boolean[]> {
    const ids = callbacks.map(({ endpointId }) => endpointId);
    this.asked.push(ids);
    if (ids.includes('broken')) throw new Error('no database');
    return ids.map((id) => id.startsWith('known'));
  }
}

const endpoints = new Known();
const asking = new AssertCallback(endpoints);
const assertCallback = {
  execute: ({ callback }: { callback?: string }) =>
    asking.execute({ sender: ANYONE, ...(callback !== undefined && { callback }) }),
};

it('asks nothing for a request without a callback, and once for many in one go', async () => {
  await assertCallback.execute({});
  const callbacks = ['known', 'known', 'known-2', 'known-3'];
  await Promise.all(callbacks.map((callback) => assertCallback.execute({ callback })));
  expect(endpoints.asked).toEqual([callbacks]);
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

it('asks again after a failure', async () => {
  await expect(assertCallback.execute({ callback: 'broken' })).rejects.toThrow('no database');
  await assertCallback.execute({ callback: 'known' });
});
