import type { EndpointStatus } from '../../../src/modules/chain/index.js';

export const CHAIN = 7;

export const anEndpoint = (place: number, overrides: Partial<EndpointStatus> = {}): EndpointStatus => ({
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
