import { beforeEach, describe, expect, it } from '@jest/globals';
import { FundsRepository } from '../../../src/modules/ledger/index.js';
import { NonceStanding } from '../../../src/modules/ops/application/nonce-standing.js';
import type { SlotQueries } from '../../../src/modules/ops/application/slot-queries.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { someSlots } from './slots-fixture.js';

const SIGNER = aSigner();
let chain: ModelChain;
let isKnown: boolean;
let floors: bigint[];

beforeEach(() => {
  [chain, isKnown, floors] = [new ModelChain(), true, []];
  chain.transactionCounts = async (_accounts, tag) => [tag === 'latest' ? 7n : 8n];
});

function standing(cursor: Awaited<ReturnType<SlotQueries['cursor']>>): NonceStanding {
  const funds = fakeOf(FundsRepository, {
    standing: async () => [{ isKnown, inFlight: 0, hasPending: false, waitsForFunds: false, isLow: false }],
  });
  const slots = someSlots({ cursor: async (_signer, floor) => (floors.push(floor), cursor) });
  return new NonceStanding(new ModelChains(chain), funds, slots);
}

describe('where a sequence stands', () => {
  it('is cursor and chain, and what has no slot from the next nonce of the chain on', async () => {
    expect(await standing({ next: 9n, lowest: 7n }).of(SIGNER)).toEqual({
      cursor: 9n,
      chain: { latest: 7n, pending: 8n },
      missing: null,
    });
    expect(floors).toEqual([7n]);
    expect((await standing({ next: 12n, lowest: 10n }).of(SIGNER)).missing).toEqual({ from: 7n, count: 3 });
    expect((await standing({ next: 9n, lowest: null }).of(SIGNER)).missing).toEqual({ from: 7n, count: 2 });
    expect((await standing({ next: null, lowest: null }).of(SIGNER)).missing).toBeNull();
    expect((await standing({ next: 3n, lowest: null }).of(SIGNER)).missing).toBeNull();
  });

  it('is told without the chain when that does not answer', async () => {
    chain.transactionCounts = async () => [];
    expect((await standing({ next: 9n, lowest: null }).of(SIGNER)).chain).toBeNull();
    chain.transactionCounts = () => Promise.reject(new Error('away'));
    expect(await standing({ next: 9n, lowest: null }).of(SIGNER)).toEqual({ cursor: 9n, chain: null, missing: null });
    expect(floors).toEqual([0n, 0n]);
  });

  it('is told without a count that is no nonce of the books, which the database could not even compare', async () => {
    chain.transactionCounts = async (_accounts, tag) => [tag === 'latest' ? 2n ** 63n : 8n];
    expect(await standing({ next: 9n, lowest: null }).of(SIGNER)).toEqual({ cursor: 9n, chain: null, missing: null });
    chain.transactionCounts = async (_accounts, tag) => [tag === 'latest' ? 2n ** 63n - 1n : 2n ** 64n];
    expect(await standing({ next: 9n, lowest: null }).of(SIGNER)).toEqual({ cursor: 9n, chain: null, missing: null });
    chain.transactionCounts = async () => [2n ** 63n - 1n];
    expect((await standing({ next: 9n, lowest: null }).of(SIGNER)).chain).toMatchObject({ latest: 2n ** 63n - 1n });
    expect(floors).toEqual([0n, 0n, 2n ** 63n - 1n]);
  });

  it('is not told of an address that is no signer', async () => {
    isKnown = false;
    await expect(standing({ next: null, lowest: null }).of(SIGNER)).rejects.toMatchObject({ code: 'unknown_signer' });
  });
});
