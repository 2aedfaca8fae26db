import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { configFrom, type LockstepConfig } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { type ChainUpdate, HeadTracker, NewHeads, type BlockStore } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { HeadAnnouncer } from '../../src/modules/chain/infrastructure/rpc/head-announcer.js';
import { ApplyChainUpdate } from '../../src/modules/confirmations/application/apply-chain-update.js';
import { HeadTrackingDuty } from '../../src/modules/confirmations/application/head-tracking-duty.js';
import { ConfirmationManager } from '../../src/modules/confirmations/infrastructure/confirmation-manager.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { DatabaseWatch } from '../../src/platform/database/database-watch.js';
import { fakeOf } from '../support/fakes/fake-of.js';
import { DEV_CHAIN_ID, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { tickersWith } from '../support/fakes/fake-tickers.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';

const DATABASE = 'postgres://nobody@127.0.0.1:1/none';

let anvil: RunningAnvil;
let wire: TcpProxy;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // Blocks come when a test mines them.
  anvil = await startAnvil();
});
afterAll(() => anvil.kill());
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const asSocketUrl = (url: string): string => url.replace(/^http/, 'ws');

/** @returns the number of the new block */
async function mine(): Promise<number> {
  await callRpc(anvil.url, 'evm_mine');
  return Number(await callRpc(anvil.url, 'eth_blockNumber'));
}

async function aWire(): Promise<TcpProxy> {
  wire = await TcpProxy.listen(anvil.url);
  cleanUps.push(() => wire.stop());
  return wire;
}

function announcer(urls: readonly string[], options: { chainId?: number; silenceMs?: number } = {}) {
  const log = new RecordingLog();
  const heads = new HeadAnnouncer({
    chainId: DEV_CHAIN_ID,
    setUpMs: 10_000,
    silenceMs: 60_000,
    urls: urls.map(asSocketUrl),
    log,
    ...options,
  });
  let news = 0;
  heads.start(() => (news += 1));
  cleanUps.push(() => heads.stop());
  const logged = (event: string) => log.lines.filter((line) => line.event === event).map(({ fields }) => fields);
  return { heads, log, logged, news: () => news };
}

/** Until a block that is mined now is heard of: a subscription takes a moment to begin. */
async function untilHeard(heads: HeadAnnouncer): Promise<void> {
  await until('a head is announced', async () => {
    await mine();
    return heads.latest !== null;
  });
}

/** Follows the chain as the service does, with blocks kept in memory and nobody's transactions. */
function aFollower(chain: Record<string, unknown>) {
  const config: LockstepConfig = configFrom({
    database: { url: DATABASE },
    chains: [{ id: DEV_CHAIN_ID, rpcUrls: [anvil.url], ...chain }],
  });
  const log = new RecordingLog();
  const clock = new ShiftedClock();
  const chains = new ConfiguredChains(config, new FakeMetrics(), clock, log);
  const store: BlockStore = {
    recent: async () => [],
    orphaned: async () => [],
    begin: async () => [],
    advance: async () => undefined,
    forgetBelow: async () => undefined,
  };
  let followed = -1;
  const apply = { execute: async ({ head }: ChainUpdate) => void (followed = head) };
  const heads = new NewHeads(config, log);
  const watch = fakeOf(DatabaseWatch, { onNewEpoch: () => undefined });
  const follow = new HeadTracker(chains, store, clock, log, watch);
  const manager = new ConfirmationManager(
    follow,
    fakeOf(ApplyChainUpdate, apply),
    heads,
    fakeOf(HeadTrackingDuty, { isDue: async () => true }),
    fakeOf(LeaseManager, { onFirstOf: () => undefined }),
    clock,
    config,
    tickersWith(log),
  );
  cleanUps.push(
    () => chains.close(),
    () => heads.onModuleDestroy(),
    () => manager.onModuleDestroy(),
  );
  manager.onApplicationBootstrap();
  return { heads, followed: () => followed };
}

describe('new heads over a WebSocket of a real node', () => {
  it('are announced with number and hash, and each is news', async () => {
    const { heads, logged, news } = announcer([anvil.url]);
    await untilHeard(heads);
    const before = news();
    const number = await mine();
    await until('the block is announced', async () => heads.latest?.number === number);
    expect(heads.latest?.hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(news()).toBeGreaterThan(before);
    expect(logged('receiving new heads by websocket')).toEqual([
      { chainId: DEV_CHAIN_ID, endpoint: `#0 ws://127.0.0.1:${anvil.port}` },
    ]);
  });

  it('of another chain are not used, and its endpoint is named', async () => {
    const other = await startAnvil({ chainId: 4242, blockTime: 1 });
    cleanUps.push(() => other.kill());
    const { heads, logged } = announcer([other.url, anvil.url]);
    await untilHeard(heads);
    expect(logged('websocket endpoint serves another chain and is not used')).toEqual([
      { chainId: DEV_CHAIN_ID, endpoint: `#0 ws://127.0.0.1:${other.port}`, reported: 4242 },
    ]);
    expect(logged('receiving new heads by websocket')).toEqual([
      { chainId: DEV_CHAIN_ID, endpoint: `#1 ws://127.0.0.1:${anvil.port}` },
    ]);
  });

  it('are not expected any more when the socket drops, which is news, and come again when it is back', async () => {
    const { url } = await aWire();
    const { heads, news } = announcer([url]);
    await untilHeard(heads);
    const before = news();
    wire.set('cut');
    await until('the end is noticed', async () => heads.latest === null && news() > before);
    wire.heal();
    await untilHeard(heads);
    expect(wire.counters.resets).toBeGreaterThan(0);
  });

  it('are not expected from a socket that fell silent', async () => {
    const { heads, logged } = announcer([anvil.url], { silenceMs: 300 });
    await untilHeard(heads);
    await until('the silence is noticed', async () => heads.latest === null);
    expect(logged('lost new heads by websocket, polling continues')[0]).toMatchObject({
      reason: 'no announcement for 300 ms',
    });
    await untilHeard(heads);
  });

  it('are waited for from the subscription on as long as between two blocks: setting up is over', async () => {
    const { logged } = announcer([anvil.url], { silenceMs: 300 });
    const ends = () => logged('lost new heads by websocket, polling continues');
    await until('the silence is noticed', async () => ends().length > 0);
    expect(ends()[0]).toMatchObject({ reason: 'no announcement for 300 ms' });
  });

  it('never keep a shutdown waiting for a peer that says nothing', async () => {
    const { url } = await aWire();
    wire.set('black-hole');
    const silent = announcer([url]);
    await until('the handshake was swallowed', async () => wire.counters.swallowed > 0);
    await silent.heads.stop();
    expect(silent.logged('lost new heads by websocket, polling continues')).toEqual([]);
  });

  it('never show the path of their endpoint', async () => {
    const { log, logged } = announcer([`${anvil.url}/v3/secret-key?token=secret-token`]);
    await until('it failed', async () => logged('lost new heads by websocket, polling continues').length > 0);
    expect(JSON.stringify(log.lines)).not.toContain('secret');
  });
});

describe('the follower of blocks', () => {
  it('follows a block that was announced without ever polling', async () => {
    const { heads, followed } = aFollower({ wsUrls: [asSocketUrl(anvil.url)], pollInterval: '20d' });
    await until('heads are announced', async () => {
      await mine();
      return heads.latest(DEV_CHAIN_ID) !== null;
    });
    const number = await mine();
    await until('the block is followed', async () => followed() === number);
  });

  it('polls again when the socket is cut', async () => {
    const { url } = await aWire();
    const { heads, followed } = aFollower({ wsUrls: [asSocketUrl(url)], pollInterval: '200ms' });
    await until('heads are announced', async () => {
      await mine();
      return heads.latest(DEV_CHAIN_ID) !== null;
    });
    wire.set('cut');
    await until('the end is noticed', async () => heads.latest(DEV_CHAIN_ID) === null);
    for (let block = 0; block < 3; block++) {
      const number = await mine();
      await until('the block is followed', async () => followed() === number);
    }
    expect(heads.latest(DEV_CHAIN_ID)).toBeNull();
  });
});
