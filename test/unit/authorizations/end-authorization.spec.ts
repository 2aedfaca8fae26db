import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndAuthorization, pauseMs } from '../../../src/modules/authorizations/application/end-authorization.js';
import type { AuthorizationStore } from '../../../src/modules/authorizations/domain/authorization-store.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { Fence } from '../../../src/modules/signers/index.js';
import type { ChangeSet, WriteChanges } from '../../../src/modules/transactions/index.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

const SLOT = { signer: AUTHORITY, nonce: 7n };

let chainNonce: bigint | null;
let isAsRead: boolean;
let calls: string[];
let written: ChangeSet[];
let ends: EndAuthorization;

const chain = {
  agreedCounts: async () => [chainNonce === null ? null : { nonce: chainNonce }],
} as unknown as ChainConnector;

beforeEach(() => {
  [chainNonce, isAsRead, calls, written] = [7n, true, [], []];
  ends = new EndAuthorization(
    {
      end: async () => (calls.push('end'), isAsRead),
      withdraw: async (_fence: unknown, _grant: unknown, ms: number) => (
        calls.push(`withdraw ${String(ms)}`),
        isAsRead
      ),
    } as unknown as AuthorizationStore,
    {
      underFence: async (_leases: unknown, _operation: string, changesOf: (fence: Fence) => Promise<ChangeSet>) => {
        const changes = await changesOf({} as Fence);
        written.push(changes);
        return changes;
      },
    } as unknown as WriteChanges,
  );
});

const end = (overrides = {}) => ends.execute(chain, LEASE, aGrant({ stage: 'ended', nonce: 7n, ...overrides }));

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
