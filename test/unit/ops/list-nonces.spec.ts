import { expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { ListNonces } from '../../../src/modules/ops/application/list-nonces.js';
import { NonceStanding } from '../../../src/modules/ops/application/nonce-standing.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSlot, someSlots } from './slots-fixture.js';

it('a list of nonces has a page of slots beside where their sequence stands', async () => {
  const sequence = { cursor: 9n, chain: null, missing: null };
  const asked: unknown[] = [];
  const slots = someSlots({ list: async (...args) => (asked.push(args), { items: [aSlot()], nextBelow: 7n }) });
  const list = new ListNonces(slots, fakeOf(NonceStanding, { of: async () => sequence }));
  const filter = { limit: 1, status: 'HELD' } as const;
  expect(await list.execute(aSigner(), filter, ANYONE)).toEqual({ ...sequence, items: [aSlot()], nextBelow: 7n });
  expect(asked).toEqual([[aSigner(), filter, ANYONE]]);
});
