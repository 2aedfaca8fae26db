import { beforeEach, expect, it } from '@jest/globals';
import type { Chains } from '../../../src/modules/chain/index.js';
import { SignerBalance } from '../../../src/modules/ops/application/signer-balance.js';
import type { MeasureFunds } from '../../../src/modules/sending/index.js';
import type { FundsRepository } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { someFunds } from '../lanes/funds-fixture.js';

const SIGNER = aSigner();
const CLOCK = new FakeClock();

let isKnown: boolean;
let asked: unknown[];
let balance: SignerBalance;

beforeEach(() => {
  [isKnown, asked] = [true, []];
  balance = new SignerBalance(
    { get: (id: number) => `chain ${id}` } as unknown as Chains,
    { execute: async (...args: unknown[]) => (asked.push(args), [someFunds()]) } as unknown as MeasureFunds,
    { standing: async () => [{ isKnown, inFlight: 3 }] } as unknown as FundsRepository,
    CLOCK,
  );
});

it('the balance of a signer comes with what it is to pay, at most 10,000 waiting txs, and the time', async () => {
  expect(await balance.execute(SIGNER)).toEqual({ ...someFunds(), inFlightCount: 3, at: CLOCK.now() });
  expect(asked).toEqual([[`chain ${SIGNER.chainId}`, [SIGNER], 10_000]]);
});

it('nobody is asked for the balance of an address that is not a signer', async () => {
  isKnown = false;
  await expect(balance.execute(SIGNER)).rejects.toMatchObject({ code: 'unknown_signer' });
  expect(asked).toEqual([]);
});
