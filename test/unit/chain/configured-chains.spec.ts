import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig, MIN_TIP_WEI_PER_GAS } from '../../../src/config/index.js';
import { parseHex } from '../../../src/kernel/hex.js';
import { ConfiguredChains } from '../../../src/modules/chain/infrastructure/configured-chains.js';
import { aHash, anAddress } from '../../support/builders.js';
import { until } from '../../support/until.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
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
      new FakeMetrics(),
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
    await chains.close();
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
    await chains.close();
    await failed;
  });

  it('show their endpoints without paths', async () => {
    const chains = configured(chain(1337, `${node.url}v3/secret-key`));
    expect(chains.endpoints()).toMatchObject([
      { chainId: 1337, endpoint: `#0 http://127.0.0.1:${node.port}`, state: 'unverified' },
    ]);
    expect(JSON.stringify(chains.endpoints())).not.toContain('secret-key');
    await chains.close();
  });

  describe('take from their config', () => {
    const ACCOUNTS = [1, 2, 3].map(anAddress);
    let other: FakeRpcServer;
    let chains: ConfiguredChains;

    beforeEach(async () => {
      other = await new FakeRpcServer().start();
      other.answer = () => ({ result: '0x2' });
    });
    afterEach(async () => {
      await chains.close();
      await other.stop();
    });

    const connected = (extra: Partial<ChainConfig>) => {
      chains = configured(chain(1337, node.url, extra));
      return chains.get(1337);
    };
    const both = () => [node.url, other.url];

    it('the words in which a provider refuses for the rate: another is asked, and this one is left alone', async () => {
      node.answer = () => ({ error: { code: -32000, message: 'No credits are left' } });
      const connector = connected({
        rpcUrls: both(),
        errorPatterns: [{ pattern: 'no credits', class: 'rate_limited' }],
      });
      expect(await connector.balances(ACCOUNTS.slice(0, 1))).toEqual([2n]);
      expect(chains.endpoints()).toMatchObject([
        { endpoint: `#0 http://127.0.0.1:${node.port}`, consecutiveFailures: 1, lastError: 'No credits are left' },
        { endpoint: `#1 http://127.0.0.1:${other.port}`, consecutiveFailures: 0 },
      ]);
    });

    it('what the words of a node mean for a transaction', async () => {
      node.answer = () => ({ error: { code: -32000, message: 'We have that one' } });
      const connector = connected({ errorPatterns: [{ pattern: 'have that one', class: 'already_known' }] });
      expect(await connector.broadcast([{ hash: aHash(1), raw: parseHex('0x02') }])).toEqual([
        { kind: 'accepted', errorClass: 'already_known' },
      ]);
    });

    it.each([
      [10, 1n],
      [9, 2n],
    ])('how far an endpoint may be behind: %d blocks', async (maxLag, told) => {
      [node.head, other.head] = [90, 100];
      const connector = connected({ rpcUrls: both(), maxLag });
      await until('both heads are compared', async () => {
        await connector.balances(ACCOUNTS.slice(0, 1));
        return chains.endpoints().some(({ lagBlocks }) => lagBlocks === 10);
      });
      expect(await connector.balances(ACCOUNTS.slice(0, 1))).toEqual([told]);
    });

    it('how long a question may take', async () => {
      node.hung = true;
      await expect(connected({ rpcTimeout: 50 }).balances(ACCOUNTS)).rejects.toMatchObject({ code: 'rpc_unavailable' });
    });

    it('how long the only endpoint is waited for when it asks for that', async () => {
      let refusals = 0;
      node.takeOver = ({ response }) => {
        if (refusals++ > 0) return false;
        return Boolean(response.writeHead(429, { 'retry-after': '0' }).end());
      };
      expect(await connected({ rpcTimeout: 60_000 }).balances(ACCOUNTS.slice(0, 1))).toEqual([1n]);
    });
  });

  it('quote no tip below the least that nodes take', async () => {
    node.answer = () => ({
      result: {
        oldestBlock: '0x1',
        baseFeePerGas: ['0x1', '0x1'],
        gasUsedRatio: [1],
        reward: [['0x0', '0x0', '0x0', '0x0', '0x0']],
      },
    });
    const chains = configured(chain(1337, node.url));
    expect(await chains.get(1337).feeQuote()).toMatchObject({
      tips: { slow: MIN_TIP_WEI_PER_GAS, urgent: MIN_TIP_WEI_PER_GAS },
    });
    await chains.close();
  });
});
