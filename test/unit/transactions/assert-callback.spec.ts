import { expect, it } from '@jest/globals';
import { AssertCallback } from '../../../src/modules/transactions/application/intake/assert-callback.js';
import { CallbackEndpoints } from '../../../src/modules/transactions/application/intake/callback-endpoints.js';

class Known extends CallbackEndpoints {
  readonly asked: string[] = [];

  override async exists(endpointId: string): Promise<boolean> {
    this.asked.push(endpointId);
    return endpointId === 'known';
  }
}

const endpoints = new Known();
const assertCallback = new AssertCallback(endpoints);

it('asks nothing for a request without a callback, and once for many with the same one', async () => {
  await assertCallback.execute({});
  await Promise.all(Array.from({ length: 9 }, () => assertCallback.execute({ callback: 'known' })));
  expect(endpoints.asked).toEqual(['known']);
  await assertCallback.execute({ callback: 'known' });
  expect(endpoints.asked.length).toBe(2);
});

it('refuses an endpoint that is not there', async () => {
  await expect(assertCallback.execute({ callback: 'gone' })).rejects.toMatchObject({
    code: 'unknown_webhook',
    kind: 'unprocessable',
  });
});
