import { expect, it } from '@jest/globals';
import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { type Subscriber, wants } from '../../../src/modules/webhooks/domain/webhook-endpoint.js';
import { anAddress } from '../../support/builders.js';
import { aPublicEvent } from './webhook-fakes.js';

const all: Subscriber = {
  id: 'one',
  account: DEFAULT_ACCOUNT,
  callbackOnly: false,
  types: null,
  chainIds: null,
  signers: null,
};
const event = aPublicEvent(1, { type: 'tx.failed', chainId: 7, signer: anAddress(3) });

it.each([
  ['no filter', {}, true],
  ['its type', { types: ['tx.confirmed', 'tx.failed'] }, true],
  ['another type', { types: ['tx.confirmed'] }, false],
  ['its chain', { chainIds: [7] }, true],
  ['another chain', { chainIds: [1] }, false],
  ['its signer', { signers: [anAddress(3)] }, true],
  ['another signer', { signers: [anAddress(1)] }, false],
  ['its type on another chain', { types: ['tx.failed'], chainIds: [1] }, false],
  ['callbacks only', { callbackOnly: true }, false],
] satisfies [string, Partial<Subscriber>, boolean][])(
  'an event and an endpoint with %s: %p gets it: %p',
  (_name, filter, gets) => {
    expect(wants({ ...all, ...filter }, event)).toBe(gets);
  },
);

it('an event of a request that names the endpoint comes to it whatever its filters are', () => {
  const narrow: Subscriber = { ...all, callbackOnly: true, types: ['tx.confirmed'], chainIds: [1] };
  expect(wants(narrow, { ...event, callback: 'one' })).toBe(true);
  expect(wants(narrow, { ...event, callback: 'two' })).toBe(false);
});
