import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndAuthorization, pauseMs } from '../../../src/modules/nonces/application/end-authorization.js';
import type { AgreedCount } from '../../../src/modules/chain/index.js';
import type { Fence } from '../../../src/modules/signers/index.js';
import { type ChangeSet, WriteChanges, AuthorizationStore } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash } from '../../support/builders.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

const SLOT = { signer: AUTHORITY, nonce: 7n };

let chainNonce: bigint | null;
let isAsRead: boolean;
let calls: string[];
let written: ChangeSet[];
let ends: EndAuthorization;

beforeEach(() => {
  [chainNonce, isAsRead, calls, written] = [7n, true, [], []];
  ends = new EndAuthorization(
    fakeOf(AuthorizationStore, {
      end: async () => (calls.push('end'), isAsRead),
      expire: async () => void calls.push('expire'),
      withdraw: async (_fence, _grant, ms) => (calls.push(`withdraw ${String(ms)}`), isAsRead),
    }),
    fakeOf(WriteChanges, {
      underFence: async (_leases, _operation, changesOf) => {
        const changes = await changesOf({} as Fence);
        written.push(changes);
        return changes;
      },
    }),
  );
});

const agreed = (): AgreedCount | null =>
  chainNonce === null ? null : { nonce: chainNonce, block: { number: 1, hash: aHash(1) } };
const end = (overrides = {}) => ends.execute(LEASE, aGrant({ stage: 'ended', nonce: 7n, ...overrides }), agreed());

describe('an authorization whose tx has ended', () => {
  it('frees a nonce that the chain did not use', async () => {
    expect(await end()).toBe(true);
    expect([calls, written]).toEqual([['end'], [{ slots: { released: [SLOT] } }]]);
  });

  it('leaves no slot of a nonce that the chain has used', async () => {
    chainNonce = 8n;
    expect(await end()).toBe(true);
    expect(written).toEqual([{ slots: { forgotten: [SLOT] } }]);
  });

  it('waits while the endpoints do not agree', async () => {
    chainNonce = null;
    expect([await end(), calls]).toEqual([false, []]);
  });

  it('frees nothing when the tx is not as it was read', async () => {
    isAsRead = false;
    expect([await end(), written]).toEqual([false, [{}]]);
  });

  it('is forgotten without a look at the chain when it was never signed', async () => {
    chainNonce = null;
    expect([await end({ nonce: null }), calls, written]).toEqual([true, ['end'], [{}]]);
  });
});

describe('an authorization whose tx is in the way', () => {
  it('is kept with its nonce: only the time of the tx ends, under the fence of the authority', async () => {
    await ends.endTime(LEASE, aGrant({ stage: 'in_the_way', nonce: 7n }));
    expect([calls, written]).toEqual([['expire'], [{}]]);
  });
});

describe('an authorization whose tx waits for too long', () => {
  it('is taken back, and its nonce is free', async () => {
    expect(await end({ stage: 'overdue' })).toBe(true);
    expect([calls, written]).toEqual([['withdraw 7500'], [{ slots: { released: [SLOT] } }]]);
  });

  it('frees nothing when the tx got a nonce meanwhile', async () => {
    isAsRead = false;
    expect([await end({ stage: 'overdue' }), written]).toEqual([false, [{}]]);
  });
});

it('pauses double, and differ from tx to tx', () => {
  const [low, high] = ['00000000-1', 'ffffffff-1'];
  expect([0, 1, 2].map((tries) => pauseMs({ id: low, tries }))).toEqual([5_000, 10_000, 20_000]);
  expect(pauseMs({ id: high, tries: 0 })).toBeCloseTo(10_000);
});
