import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { configFrom } from '../../../src/config/index.js';
import { ChainProbes } from '../../../src/modules/chain/infrastructure/chain-probes.js';
import { ConfiguredChains } from '../../../src/modules/chain/infrastructure/configured-chains.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { until } from '../../support/until.js';
import { RecordingLog, ShiftedClock } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const [POLYGON, UNKNOWN, LOCAL] = [137, 4_242, 31_337];
const DIFFERS = 'chain differs from the values in force';
const LINES = 'chain has no profile: these lines fit its entry in the config';
const NO_SUCH_METHOD = { error: { code: -32601, message: 'the method does not exist' } };

/** Block 100, ten seconds apart, without a base fee and without tags; no `eth_feeHistory`, no oracle. */
function poorNode({ method, params }: RpcCall): FakeAnswer {
  const [block] = params;
  if (method === 'eth_getCode') return { result: '0x' };
  if (method === 'eth_feeHistory' || block === 'safe' || block === 'finalized') return NO_SUCH_METHOD;
  if (method !== 'eth_getBlockByNumber') return { result: '0x1' };
  const number = block === 'latest' ? 100 : Number(block);
  const hash = `0x${(number + 1).toString(16).padStart(64, '0')}`;
  return {
    result: {
      number: `0x${number.toString(16)}`,
      hash,
      parentHash: hash,
      timestamp: `0x${(number * 10).toString(16)}`,
    },
  };
}

describe('the probes of chains', () => {
  let [known, unknown, local]: FakeRpcServer[] = [];
  let chains: ConfiguredChains;
  let probes: ChainProbes;
  let log: RecordingLog;
  let registry: SchedulerRegistry;

  const servers = (): FakeRpcServer[] => [known, unknown, local].filter((server) => server !== undefined);
  const logged = (event: string) => log.lines.filter((line) => line.event === event).map(({ fields }) => fields);
  const ended = (id: number) =>
    until(`chain ${id} was probed`, async () => !registry.doesExist('interval', `probe-${id}`));

  beforeEach(async () => {
    [known, unknown, local] = await Promise.all([1, 2, 3].map(() => new FakeRpcServer().start()));
    const entries = [POLYGON, UNKNOWN, LOCAL].map((id, i) => {
      const server = servers()[i];
      if (server) [server.chainId, server.answer] = [id, poorNode];
      return { id, rpcUrls: [server?.url], rpcTimeout: '30s' };
    });
    const config = configFrom({ database: { url: 'postgres://nobody@localhost/none' }, chains: entries });
    [log, registry] = [new RecordingLog(), new SchedulerRegistry()];
    chains = new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), log);
    probes = new ChainProbes(config, chains, log, tickersWith(log, registry));
  });
  afterEach(async () => {
    probes.onModuleDestroy();
    await chains.close();
    await Promise.all(servers().map((server) => server.stop()));
  });

  it('ask each chain once, warn of what contradicts a profile, and have lines for a chain without one', async () => {
    if (unknown)
      unknown.takeOver = ({ isBatch, response }) => {
        if (isBatch) response.writeHead(400).end('batches are not for you');
        return isBatch;
      };
    probes.onApplicationBootstrap();
    await Promise.all([ended(POLYGON), ended(UNKNOWN)]);
    expect(logged(DIFFERS)).toEqual([
      { chainId: POLYGON, field: 'feeType', inForce: 'eip1559', shown: 'legacy' },
      { chainId: POLYGON, field: 'blockTimeMs', inForce: 2_000, shown: 10_000 },
    ]);
    expect(logged(LINES)).toEqual([
      {
        chainId: UNKNOWN,
        lines: [
          '# block time: 10000 ms; fees: legacy; tags: none; batches: no; missing methods: eth_feeHistory',
          'pollInterval: 3000ms',
          'maxLag: 5',
          'confirmations: { finality: depth }',
          'l1DataFee: none',
        ],
      },
    ]);
    const inForce = new Map(probes.inForce());
    expect(inForce.get(UNKNOWN)?.blockTimeMs).toEqual({ value: 10_000, from: 'probed', source: null });
    expect(inForce.get(POLYGON)?.blockTimeMs).toMatchObject({ value: 2_000, from: 'profile' });
  });

  it('leave local chains alone, and hold nothing up for a chain that does not answer', async () => {
    if (known) known.hung = true;
    probes.onApplicationBootstrap();
    await ended(UNKNOWN);
    expect(logged(DIFFERS)).toEqual([]);
    expect(local?.seen).toEqual([]);
    expect(registry.getIntervals()).toEqual([`probe-${POLYGON}`]);
    // The end of the process waits for no answer either.
    probes.onModuleDestroy();
    expect(registry.getIntervals()).toEqual([]);
  });
});
