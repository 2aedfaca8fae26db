import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  type FindGrantNonce,
  GrantAuthorization,
} from '../../../src/modules/authorizations/application/grant-authorization.js';
import type { AuthorizationStore } from '../../../src/modules/ledger/domain/authorization-store.js';
import type { AgreedCount, ChainConnector } from '../../../src/modules/chain/index.js';
import type { CommittedCursors } from '../../../src/modules/lost-commits/index.js';
import type { AuthorizationSigner } from '../../../src/modules/sending/index.js';
import type { Fence, NonceLedger, SequenceState } from '../../../src/modules/signers/index.js';
import type { ChangeSet, SignedAuthorization, WriteChanges } from '../../../src/modules/ledger/index.js';
import { aHash } from '../../support/builders.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

const AGREED: AgreedCount = { nonce: 7n, block: { number: 1, hash: aHash(1) } };

let chainNonce: bigint | null;
let sequence: SequenceState | null;
let taken: boolean;
let stored: SignedAuthorization[];
let written: ChangeSet[];
let committed: unknown[];
/** How often what keeps the signer from its next nonce was to be filled. */
let filled: number;
/** Whether the custody of the signer signs. */
let isSigning: boolean;
let grants: GrantAuthorization;

beforeEach(() => {
  [chainNonce, taken, stored, written, committed, filled] = [7n, true, [], [], [], 0];
  isSigning = true;
  sequence = { signer: AUTHORITY, cursor: 7n, released: [], outside: [] };
  grants = new GrantAuthorization(
    {
      find: async () =>
        chainNonce === null ? null : { nonce: chainNonce, chainNonces: [{ signer: AUTHORITY, nonce: chainNonce }] },
      free: async () => void filled++,
    } as unknown as FindGrantNonce,
    {
      sign: async (_signer: unknown, target: object) => ({ ...target, yParity: 0, r: '0x1', s: '0x2' }),
      isSigning: () => isSigning,
    } as unknown as AuthorizationSigner,
    {
      align: async () => undefined,
      read: async () => (sequence ? [sequence] : []),
    } as unknown as NonceLedger,
    {
      grant: async (_fence: Fence, _grant: unknown, signed: SignedAuthorization) => (stored.push(signed), taken),
    } as unknown as AuthorizationStore,
    {
      underFence: async (_leases: unknown, _operation: string, changesOf: (fence: Fence) => Promise<ChangeSet>) => {
        const changes = await changesOf({} as Fence);
        written.push(changes);
        return changes;
      },
    } as unknown as WriteChanges,
    { committed: (slots: readonly unknown[]) => void committed.push(...slots) } as unknown as CommittedCursors,
  );
});

const grant = (overrides = {}, agreed: AgreedCount | null = AGREED) =>
  grants.execute({} as ChainConnector, LEASE, aGrant(overrides), agreed, 'mark');

it('nobody signs authorizations of a signer whose key outside senders have', () => {
  expect(grants.isSigning(aGrant())).toBe(true);
  isSigning = false;
  expect(grants.isSigning(aGrant())).toBe(false);
});

describe('an authorization is signed', () => {
  it('with the next nonce of its signer, whose slot it holds', async () => {
    expect(await grant()).toBe(true);
    const held = [{ signer: AUTHORITY, nonce: 7n, txId: aGrant().id }];
    expect(written).toEqual([{ slots: { held, cursors: [{ from: sequence, to: 8n }] } }]);
    expect(stored).toMatchObject([{ nonce: 7n, chainId: 0n, address: aGrant().target?.address, r: '0x1' }]);
    expect([committed, filled]).toEqual([[{ signer: AUTHORITY, nonce: 7n }], 0]);
  });

  it('with a nonce that was given back, and then the cursor stays', async () => {
    sequence = { signer: AUTHORITY, cursor: 9n, released: [7n], outside: [] };
    expect(await grant()).toBe(true);
    expect(written).toMatchObject([{ slots: { held: [{ nonce: 7n }], cursors: [{ to: 9n }] } }]);
  });
});

describe('an authorization is not signed', () => {
  it.each([
    ['while something of its signer is in flight', () => ({ isReady: false })],
    ['for a tx that does not want it any more', () => ({ target: null })],
    ['while the chain does not say the nonce', () => ((chainNonce = null), {})],
  ])('%s', async (_, given) => {
    expect(await grant(given())).toBe(false);
    expect([stored, written]).toEqual([[], []]);
  });

  it('while the endpoints do not agree on the count', async () => {
    expect([await grant({}, null), stored, written]).toEqual([false, [], []]);
  });

  it.each([
    ['with a nonce that is not the next one of the chain, and what nobody gets is filled', () => (chainNonce = 6n), 1],
    ['for a signer without a cursor', () => (sequence = null), 0],
    ['for a tx that changed meanwhile', () => (taken = false), 0],
  ])('%s', async (_, change, fills) => {
    change();
    expect(await grant()).toBe(false);
    expect([written, committed, filled]).toEqual([[{}], [], fills]);
  });
});
