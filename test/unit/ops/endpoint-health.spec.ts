import { describe, expect, it } from '@jest/globals';
import { HealthIndicatorService } from '@nestjs/terminus';
import { Registry } from 'prom-client';
import type { ChainConnector, Chains, EndpointStatus, RpcHealth } from '../../../src/modules/chain/index.js';
import { Drain } from '../../../src/modules/ops/infrastructure/drain.js';
import { EndpointMetrics } from '../../../src/modules/ops/infrastructure/endpoint-metrics.js';
import { ReadinessProbes } from '../../../src/modules/ops/infrastructure/readiness-probes.js';
import type { Database } from '../../../src/platform/database/database.js';

const CHAIN = 7;

const anEndpoint = (place: number, overrides: Partial<EndpointStatus> = {}): EndpointStatus => ({
  chainId: CHAIN,
  endpoint: `#${place} https://rpc.example`,
  state: 'up',
  lagBlocks: 0,
  consecutiveFailures: 0,
  latencyMs: 3,
  reportedChainId: null,
  lastError: null,
  ...overrides,
});

const WRONG = anEndpoint(0, {
  state: 'wrong_chain',
  lagBlocks: null,
  reportedChainId: 1,
  lastError: 'serves chain 1',
});

function healthOf(endpoints: readonly EndpointStatus[]): RpcHealth {
  return { endpoints: () => endpoints };
}

/** What readiness says of the chain. */
async function chainCheck(endpoints: readonly EndpointStatus[], head: () => Promise<never>): Promise<unknown> {
  const chains = { ids: () => [CHAIN], get: () => ({ chainId: CHAIN, head }) as unknown as ChainConnector };
  const probes = new ReadinessProbes(
    new HealthIndicatorService(),
    {} as Database,
    chains satisfies Chains,
    healthOf(endpoints),
    new Drain(),
  );
  const check = probes.all().at(-1);
  return (await check?.())?.[`chain-${CHAIN}`];
}

const unanswered = () => Promise.reject(new Error('no usable endpoint'));
const silent = () => new Promise<never>(() => {});

describe('readiness of a chain', () => {
  it('shows every endpoint with its state, lag, chain id and last error', async () => {
    const lagging = anEndpoint(1, { state: 'lagging', lagBlocks: 50 });
    expect(await chainCheck([WRONG, lagging], unanswered)).toEqual({
      status: 'up',
      endpoints: [
        {
          endpoint: WRONG.endpoint,
          state: 'wrong_chain',
          lagBlocks: null,
          reportedChainId: 1,
          lastError: 'serves chain 1',
        },
        { endpoint: lagging.endpoint, state: 'lagging', lagBlocks: 50, reportedChainId: null, lastError: null },
      ],
    });
  });

  it('does not look at the endpoints of other chains', async () => {
    expect(await chainCheck([anEndpoint(0, { chainId: CHAIN + 1 })], unanswered)).toEqual({
      status: 'down',
      message: 'no usable endpoint',
      endpoints: [],
    });
  });

  it.each(['backing_off', 'unverified', 'wrong_chain'] as const)('is red when the only one is %s', async (state) => {
    expect(await chainCheck([anEndpoint(0, { state })], unanswered)).toMatchObject({ status: 'down' });
  });

  it('is told without an answer, too', async () => {
    expect(await chainCheck([anEndpoint(0, { state: 'unverified' })], silent)).toMatchObject({
      status: 'down',
      message: 'no answer',
    });
    expect(await chainCheck([anEndpoint(0)], silent)).toMatchObject({ status: 'up' });
  });
});

describe('the metrics of endpoints', () => {
  it('follow state and lag at every scrape', async () => {
    const registry = new Registry();
    let endpoints = [anEndpoint(0, { state: 'lagging', lagBlocks: 50 }), anEndpoint(1, { lagBlocks: 0 })];
    new EndpointMetrics(registry, { endpoints: () => endpoints });
    expect(await registry.metrics()).toContain('rpc_endpoint_up{chain="7",endpoint="#0 https://rpc.example"} 0');
    expect(await registry.metrics()).toContain('rpc_endpoint_up{chain="7",endpoint="#1 https://rpc.example"} 1');
    expect(await registry.metrics()).toContain(
      'rpc_endpoint_lag_blocks{chain="7",endpoint="#0 https://rpc.example"} 50',
    );
    endpoints = [anEndpoint(0), anEndpoint(1, { lagBlocks: null, state: 'wrong_chain' })];
    const text = await registry.metrics();
    expect(text).toContain('rpc_endpoint_up{chain="7",endpoint="#0 https://rpc.example"} 1');
    expect(text).not.toContain('rpc_endpoint_lag_blocks{chain="7",endpoint="#1');
  });
});
