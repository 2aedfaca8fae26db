import { expect, it, jest } from '@jest/globals';
import { Chains, RpcHealth } from '../../../src/modules/chain/index.js';
import { ChainStanding } from '../../../src/modules/ops/application/chain-standing.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { anEndpoint } from './an-endpoint.js';

const OURS = anEndpoint(0, { chainId: DEV_CHAIN });
const OTHERS = anEndpoint(0, { chainId: DEV_CHAIN + 1 });
const rpc = fakeOf(RpcHealth, { endpoints: () => [OURS, OTHERS] });
const standing = (chains: Chains) => new ChainStanding(chains, rpc).execute(aSigner());

it('the chain says a quote and the balance of the signer, and the endpoints are those of this chain', async () => {
  const chain = new ModelChain();
  expect(await standing(new ModelChains(chain))).toEqual({
    quote: await chain.feeQuote(),
    balance: (await chain.balances([aSigner().address]))[0],
    endpoints: [OURS],
  });
});

it('what the chain does not say is null, and the rest is there', async () => {
  const chain = new ModelChain();
  chain.feeQuote = () => Promise.reject(new Error('no endpoint answers'));
  expect(await standing(new ModelChains(chain))).toMatchObject({ quote: null, balance: 1_000n * 10n ** 18n });
});

it('a chain that this node does not know says nothing', async () => {
  const unknown = fakeOf(Chains, {
    get: () => {
      throw new Error('unknown chain');
    },
  });
  expect(await standing(unknown)).toEqual({ quote: null, balance: null, endpoints: [OURS] });
});

it('nobody waits longer than two seconds for a chain that hangs', async () => {
  jest.useFakeTimers();
  try {
    const chain = new ModelChain();
    chain.feeQuote = chain.balances = () => new Promise<never>(() => {});
    const answer = standing(new ModelChains(chain));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await answer).toMatchObject({ quote: null, balance: null });
  } finally {
    jest.useRealTimers();
  }
});
