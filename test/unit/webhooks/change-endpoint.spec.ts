import { beforeEach, expect, it } from '@jest/globals';
import { ANYONE, DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { ChangeEndpoint } from '../../../src/modules/webhooks/application/change-endpoint.js';
import { FakeEndpoints, HttpsTargets } from './webhook-fakes.js';

let endpoints: FakeEndpoints;
let change: ChangeEndpoint;

beforeEach(async () => {
  endpoints = new FakeEndpoints();
  change = new ChangeEndpoint(endpoints, new HttpsTargets());
  await endpoints.add({
    account: DEFAULT_ACCOUNT,
    id: 'one',
    url: 'https://example.com/hook',
    description: 'ledger',
    types: ['tx.failed'],
    chainIds: null,
    signers: null,
    callbackOnly: false,
    secret: 's',
  });
});

it('changes what is named, and stores the canonical URL', async () => {
  expect(await change.execute('one', { url: 'https://OTHER.com/', types: null }, ANYONE)).toMatchObject({
    url: 'https://other.com/',
    description: 'ledger',
    types: null,
  });
});

it('refuses a URL that is not allowed, and an endpoint that is not there', async () => {
  await expect(change.execute('one', { url: 'ftp://x' }, ANYONE)).rejects.toMatchObject({
    code: 'invalid_webhook_url',
  });
  await expect(change.execute('two', { enabled: false }, ANYONE)).rejects.toMatchObject({ code: 'webhook_not_found' });
  expect((await endpoints.find('one'))?.url).toBe('https://example.com/hook');
});
