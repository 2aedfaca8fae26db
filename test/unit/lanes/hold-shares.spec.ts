import { beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { HoldShares } from '../../../src/modules/lanes/application/hold-shares.js';
import { InFlightLimits, TxsInFlight } from '../../../src/modules/ledger/index.js';
import { Fence, NonceLedger } from '../../../src/modules/signers/index.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const FENCE = fakeOf(Fence, {});

let limit: number;
/** What is open of each signer, by account. */
let open: Record<string, Record<string, number>>;
let asked: number;
let custody: KeysOf;
/** Of signers 1 and 2. */
let gaps: bigint[];

beforeEach(() => {
  [limit, open, asked, custody, gaps] = [16, {}, 0, new KeysOf([]), []];
});

type Waiting = readonly [id: string, account: string, signer?: ReturnType<typeof aSigner>];

function admitted(...waiting: readonly Waiting[]): Promise<string[]> {
  const holds = waiting.map(([txId, , signer = aSigner(1)]) => aManagedTx({ txId, kind: 'hold', signer }).build());
  const accounts = new Map(waiting.map(([id, account]) => [id, account]));
  const inFlight = fakeOf(TxsInFlight, {
    openHolds: async (_fence, some) => {
      asked += 1;
      return some.map(({ id, signer }) => {
        const ofSigner = open[signer.address] ?? {};
        const account = accounts.get(id) ?? '';
        const sum = Object.values(ofSigner).reduce((all, one) => all + one, 0);
        return { txId: id, account, ofSigner: sum, ofAccount: ofSigner[account] ?? 0 };
      });
    },
  });
  const ledger = fakeOf(NonceLedger, {
    gaps: async (signers, _alsoUnwanted, fence) => {
      expect(fence).toBe(FENCE);
      return signers.flatMap((signer) => gaps.map((nonce) => ({ signer, nonce })));
    },
  });
  return new HoldShares(inFlight, fakeOf(InFlightLimits, { of: () => limit }), custody, ledger)
    .admitted(FENCE, holds)
    .then((ids) => [...ids]);
}

const many = (count: number, account: string): Waiting[] =>
  Array.from({ length: count }, (_, n) => [`${account.slice(0, 4)}-${n}`, account]);

describe('the holds of a signer', () => {
  it('are half of what it may have in flight, with those that are open, in their order', async () => {
    expect(await admitted(...many(12, DEFAULT_ACCOUNT))).toEqual(many(8, DEFAULT_ACCOUNT).map(([id]) => id));
    open = { [aSigner(1).address]: { [DEFAULT_ACCOUNT]: 7 } };
    expect(await admitted(...many(3, DEFAULT_ACCOUNT))).toHaveLength(1);
    open = { [aSigner(1).address]: { shop: 8 } };
    expect(await admitted(...many(3, DEFAULT_ACCOUNT))).toEqual([]);
  });

  it('are half of that for each other account, and the rest is for others', async () => {
    expect(await admitted(...many(6, 'shop'), ...many(6, 'bank'), ...many(1, DEFAULT_ACCOUNT))).toEqual(
      [...many(4, 'shop'), ...many(4, 'bank')].map(([id]) => id),
    );
    open = { [aSigner(1).address]: { shop: 4 } };
    expect(await admitted(...many(2, 'shop'), ...many(1, 'bank'))).toEqual(['bank-0']);
  });

  it('are all of what it may have in flight where no payload of ours needs room', async () => {
    custody.external = [aSigner(1)];
    expect(await admitted(...many(17, DEFAULT_ACCOUNT))).toHaveLength(16);
    expect(await admitted(...many(9, 'shop'))).toHaveLength(8);
  });

  it('have room for the next one where only outside senders can close a nonce gap, and for no more than that', async () => {
    [custody.external, gaps] = [[aSigner(1)], [3n, 4n]];
    open = { [aSigner(1).address]: { shop: 8, bank: 20 } };
    expect(await admitted(...many(3, 'shop'))).toEqual(['shop-0']);
    expect(await admitted(['a', DEFAULT_ACCOUNT], ['b', 'shop', aSigner(2)], ['c', 'bank'])).toEqual(['a', 'b']);
    open = { [aSigner(1).address]: { shop: 7 } };
    expect(await admitted(...many(3, 'shop'))).toEqual(['shop-0']);
    [custody.external, open] = [[], { [aSigner(1).address]: { shop: 8 } }];
    expect(await admitted(...many(3, 'shop'))).toEqual([]);
  });

  it('are those of one signer each, and one is always possible', async () => {
    open = { [aSigner(1).address]: { shop: 8 } };
    expect(await admitted(['a', 'shop'], ['b', 'shop', aSigner(2)])).toEqual(['b']);
    [limit, open] = [1, {}];
    expect(await admitted(['a', 'shop'], ['b', 'shop'])).toEqual(['a']);
  });

  it('cost no statement where none waits', async () => {
    expect(await admitted()).toEqual([]);
    expect(asked).toBe(0);
  });
});
