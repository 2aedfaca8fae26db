import { beforeEach, describe, expect, it } from '@jest/globals';
import { Unprocessable } from '../../../src/kernel/errors.js';
import type { GasEstimate } from '../../../src/modules/chain/index.js';
import { SimulateTx } from '../../../src/modules/ops/application/simulate-tx.js';
import { FundsRepository } from '../../../src/modules/ledger/index.js';
import type { PolicyVerdict } from '../../../src/modules/policies/index.js';
import { IntakeRules } from '../../../src/modules/requests/index.js';
import { FeeRules, GasRules, type Priced } from '../../../src/modules/sending/index.js';
import type { Pause } from '../../../src/platform/scheduling/pause.js';
import { aRequest, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

const SIGNER = aSigner();
const FEES = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };

const CAPS = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };
let chain: ModelChain;
let estimate: GasEstimate;
let estimates: (() => void)[];
let priced: Priced;
let isKnown: boolean;
let policy: PolicyVerdict | null;
let simulate: SimulateTx;

beforeEach(() => {
  chain = new ModelChain();
  policy = null;
  [estimate, estimates, priced, isKnown] = [{ kind: 'ok', gas: 40_000n }, [], { fees: FEES }, true];
  chain.estimateGas = async () => [estimate];
  chain.balances = async () => [77n];
  // A client that waits has waited long enough at once, and one that need not wait has its answer first.
  simulate = simulateWith(async () => new Promise((end) => void setImmediate(end)));
});

function simulateWith(pause: Pause): SimulateTx {
  return new SimulateTx(
    new ModelChains(chain),
    fakeOf(IntakeRules, {
      assertPossible: async ({ metadata }) => {
        if (metadata !== null) throw new Unprocessable('metadata_too_large', 'too large', 'send less');
      },
      policyOn: () => policy,
    }),
    fakeOf(FundsRepository, {
      standing: async () => [{ isKnown, inFlight: 0, hasPending: false, waitsForFunds: false, isLow: false }],
    }),
    fakeOf(GasRules, { limit: (_chain, { gas }) => gas + 10_000n }),
    fakeOf(FeeRules, { capsOf: () => CAPS, price: () => priced }),
    { pause },
  );
}

const asked = (payload: object = {}, more: object = {}) => {
  const request = aRequest();
  return { ...request, ...more, signer: SIGNER, payload: { ...request.payload, value: 5n, ...payload } };
};

describe('a simulation', () => {
  it('says what the transaction would be signed with, and what it could cost', async () => {
    chain.l1DataFees = async () => [3n];
    expect(await simulate.execute(asked({ gasLimit: null }))).toMatchObject({
      ...{ outcome: 'succeeds', reason: null, gas: 40_000n, gasLimit: 50_000n, fees: FEES, feesRefusal: null },
      ...{ cost: 5n + 50_000n * 10n + 3n, balance: 77n },
    });
  });

  it('says what the policy says, and refuses nothing', async () => {
    expect(await simulate.execute(asked())).toMatchObject({ policy: null });
    policy = {
      signer: SIGNER,
      dryRun: false,
      verdict: { kind: 'refused', rule: 'maxValue', reason: 'maxValue is 4 wei, and it needs 5' },
    };
    expect(await simulate.execute(asked())).toMatchObject({ outcome: 'succeeds', policy });
  });

  it.each<[GasEstimate, string, string]>([
    [{ kind: 'reverted', reason: 'no' }, 'reverts', 'no'],
    [{ kind: 'rejected', message: 'too large' }, 'rejected', 'too large'],
    [{ kind: 'insufficient_funds', message: 'poor' }, 'insufficient_funds', 'poor'],
    [{ kind: 'unclear', message: 'hm' }, 'unknown', 'hm'],
    [{ kind: 'silent', message: 'hush' }, 'unknown', 'hush'],
    [{ kind: 'unavailable', message: 'away' }, 'unknown', 'away'],
  ])('tells why there is no estimate: %j', async (without, outcome, reason) => {
    estimate = without;
    expect(await simulate.execute(asked({ gasLimit: null }))).toMatchObject({
      ...{ outcome, reason, gas: null, gasLimit: null, fees: null, cost: null, balance: 77n },
    });
    expect(await simulate.execute(asked({ gasLimit: 60_000n }))).toMatchObject({
      ...{ outcome, gasLimit: 60_000n, fees: FEES, cost: 5n + 60_000n * 10n },
    });
  });

  it('tells that the gas limit of the client is too low', async () => {
    expect(await simulate.execute(asked({ gasLimit: 39_999n }))).toMatchObject({
      ...{ outcome: 'out_of_gas', reason: 'payload.gasLimit is 39999, and it needs 40000', gasLimit: 39_999n },
    });
    expect(await simulate.execute(asked({ gasLimit: 40_000n }))).toMatchObject({ outcome: 'succeeds' });
  });

  it('tells that the market is too expensive', async () => {
    priced = { tooExpensive: 'above the caps', limitedBy: 'chain' };
    expect(await simulate.execute(asked())).toMatchObject({ feesRefusal: 'above the caps', fees: null, cost: null });
  });

  it('is refused as the request would be, before the chain is asked', async () => {
    chain.estimateGas = () => Promise.reject(new Error('the chain was asked'));
    await expect(simulate.execute(asked({}, { metadata: {} }))).rejects.toMatchObject({ code: 'metadata_too_large' });
    isKnown = false;
    await expect(simulate.execute(asked())).rejects.toMatchObject({ code: 'unknown_signer' });
  });
});

it('simulations that hang are answered, and take four estimates of a chain at most until they end', async () => {
  chain.estimateGas = () => new Promise((resolve) => void estimates.push(() => resolve([estimate])));
  const hanging = await Promise.all([1, 2, 3, 4].map(() => simulate.execute(asked())));
  expect(hanging.map(({ outcome, reason }) => [outcome, reason])).toEqual(
    Array(4).fill(['unknown', 'no endpoint answered within 5000 ms']),
  );
  await expect(simulate.execute(asked())).rejects.toMatchObject({ code: 'simulations_busy' });
  expect(estimates).toHaveLength(4);
  estimates[0]?.();
  await new Promise(setImmediate);
  expect(await simulate.execute(asked())).toMatchObject({ outcome: 'unknown' });
  await expect(simulate.execute(asked())).rejects.toMatchObject({ code: 'simulations_busy' });
});

describe('a simulation whose time is over', () => {
  const never = () => new Promise<never>(() => undefined);

  it('shares the time among all its questions, and tells what is known', async () => {
    let pauses = 0;
    simulate = simulateWith(async () => ((pauses += 1), new Promise((end) => void setImmediate(end))));
    chain.l1DataFees = never;
    expect(await simulate.execute(asked())).toMatchObject({
      outcome: 'succeeds',
      fees: FEES,
      cost: null,
      balance: 77n,
    });
    expect(pauses).toBe(1);
  });

  it.each(['feeQuote', 'balances'] as const)(
    'is refused without its %s, and counts until that is known',
    async (what) => {
      chain[what] = never;
      for (let n = 0; n < 4; n += 1)
        await expect(simulate.execute(asked())).rejects.toMatchObject({ code: 'rpc_unavailable', kind: 'unavailable' });
      await expect(simulate.execute(asked())).rejects.toMatchObject({ code: 'simulations_busy' });
    },
  );

  it('whose chain refuses to answer counts no more', async () => {
    chain.feeQuote = () => Promise.reject(new Error('no price'));
    for (let n = 0; n < 5; n += 1) await expect(simulate.execute(asked())).rejects.toThrow('no price');
  });
});
