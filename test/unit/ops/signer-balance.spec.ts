import { beforeEach, expect, it } from '@jest/globals';
import { SignerBalance } from '../../../src/modules/ops/application/signer-balance.js';
import { MeasureFunds } from '../../../src/modules/sending/index.js';
import { FundsRepository } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { someFunds } from '../lanes/funds-fixture.js';
import { ModelChains, ModelChain } from '../../support/model-chain.js';

const SIGNER = aSigner();
const CLOCK = new FakeClock();
const CHAIN = new ModelChain();

let isKnown: boolean;
let asked: unknown[];
let balance: SignerBalance;

beforeEach(() => {
  [isKnown, asked] = [true, []];
  balance = new SignerBalance(
    new ModelChains(CHAIN),
    fakeOf(MeasureFunds, { execute: async (...args) => (asked.push(args), [someFunds()]) }),
    fakeOf(FundsRepository, {
      standing: async () => [{ isKnown, inFlight: 3, hasPending: false, waitsForFunds: false, isLow: false }],
    }),
    CLOCK,
  );
});

it('the balance of a signer comes with what it is to pay, at most 10,000 waiting txs, and the time', async () => {
  expect(await balance.execute(SIGNER)).toEqual({ ...someFunds(), inFlightCount: 3, at: CLOCK.now() });
  expect(asked).toEqual([[CHAIN, [SIGNER], 10_000]]);
});

it('nobody is asked for the balance of an address that is not a signer', async () => {
  isKnown = false;
  await expect(balance.execute(SIGNER)).rejects.toMatchObject({ code: 'unknown_signer' });
  expect(asked).toEqual([]);
});
