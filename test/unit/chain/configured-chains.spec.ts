import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import { ConfiguredChains } from '../../../src/modules/chain/infrastructure/configured-chains.js';
import { RecordingLog, ShiftedClock } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const chain = (id: number, url: string, extra: Partial<ChainConfig> = {}) =>
  Object.assign(new ChainConfig(), { id, rpcUrls: [url], ...extra });

describe('the configured chains', () => {
  let node: FakeRpcServer;
  let hung: FakeRpcServer;

  const configured = (...chains: ChainConfig[]) =>
    new ConfiguredChains(
      Object.assign(new LockstepConfig(), { chains }),
      new Registry(),
      new ShiftedClock(),
      new RecordingLog(),
    );

  beforeEach(async () => {
    [node, hung] = await Promise.all([new FakeRpcServer().start(), new FakeRpcServer().start()]);
    node.answer = () => ({ result: '0x1' });
    hung.chainId = 7;
    hung.takeOver = () => true;
  });

  afterEach(async () => {
    await Promise.all([node.stop(), hung.stop()]);
  });

  it('are found by id, and nothing else is', async () => {
    const chains = configured(chain(1337, node.url), chain(7, hung.url));
    expect(chains.ids()).toEqual([1337, 7]);
    expect(chains.get(7).chainId).toBe(7);
    expect(() => chains.get(1)).toThrow(
      expect.objectContaining({ code: 'unknown_chain', facts: { chainId: 1, known: [1337, 7] } }),
    );
    await chains.onApplicationShutdown();
  });

  it('do not notice each other’s trouble', async () => {
    const chains = configured(chain(7, hung.url, { rpcTimeout: 30_000 }), chain(1337, node.url));
    const waiting = chains
      .get(7)
      .balances([])
      .then(() => chains.get(7).head());
    const start = performance.now();
    await expect(chains.get(1337).transactionCounts([], 'latest')).resolves.toEqual([]);
    await expect(chains.get(1337).head()).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
    expect(performance.now() - start).toBeLessThan(10_000);
    const failed = expect(waiting).rejects.toMatchObject({ code: 'rpc_unavailable' });
    await chains.onApplicationShutdown();
    await failed;
  });

  it('show their endpoints without paths', async () => {
    const chains = configured(chain(1337, `${node.url}v3/secret-key`));
    expect(chains.endpoints()).toMatchObject([
      { chainId: 1337, endpoint: `#0 http://127.0.0.1:${node.port}`, state: 'unverified' },
    ]);
    expect(JSON.stringify(chains.endpoints())).not.toContain('secret-key');
    await chains.onApplicationShutdown();
  });
});
