import { describe, expect, it } from '@jest/globals';
import { configFrom } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import type { Block, ChainConnector } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { startHardhat } from '../support/hardhat.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

const BLOCK_RECEIPTS = 'eth_getBlockReceipts';
const RECEIPT = 'eth_getTransactionReceipt';
/** Keys of the trie are one byte long up to 127. */
const MANY = 140;

const FEES = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x3b9aca00' };
const GAS_PRICE = { gasPrice: '0x174876e800' };
const TRANSFER = { to: `0x${'bb'.repeat(20)}`, value: '0x1', gas: '0x186a0' };
/** Of every kind that a receipt can show. The constructors revert, and log a word with a topic. */
const KINDS = [
  { ...TRANSFER, ...FEES },
  { ...TRANSFER, ...GAS_PRICE },
  { ...TRANSFER, ...GAS_PRICE, accessList: [] },
  { data: '0x60006000fd', gas: '0x186a0', ...FEES },
  { data: '0x602a60206000a1', gas: '0x186a0', ...FEES },
  { data: '0x602a60206000a1', gas: '0x186a0', ...GAS_PRICE },
];

const CLIENTS = [
  { client: 'anvil', start: () => startAnvil({ extraArgs: ['--no-mining'] }) },
  // It has no call for the receipts of a block: they come one by one.
  { client: 'hardhat', start: startHardhat },
];

describe.each(CLIENTS)('on $client', ({ start }) => {
  let chain: ProxiedStage['chain'];
  let proxy: ProxiedStage['proxy'];
  let lab: ProxiedStage['lab'];
  let tag: number;

  /** By an account that none of our signers is. */
  const sendForeign = async (count: number): Promise<void> => {
    const accounts = await callRpc(chain.url, 'eth_accounts', []);
    const from: unknown = Array.isArray(accounts) ? accounts.at(-1) : null;
    for (let i = 0; i < count; i += 1)
      await callRpc(chain.url, 'eth_sendTransaction', [{ from, ...KINDS[i % KINDS.length] }]);
  };
  /** In the next answer with receipts, whichever way they come. */
  const lieOnce = (): void => {
    for (const method of [BLOCK_RECEIPTS, RECEIPT]) proxy.fail(method, { kind: 'rewrite', result: changed }, 1);
  };
  const asked = (): number => proxy.count(BLOCK_RECEIPTS) + proxy.count(RECEIPT);

  onProxiedNode(start, (stage) => ({ chain, proxy, lab, tag } = stage));

  it('a block of many transactions of all kinds proves its receipts, and one changed receipt does not', async () => {
    const chains = chainsAt(proxy.url);
    const connector = chains.get(DEV_CHAIN);
    await sendForeign(MANY);
    await lab.mine();
    const block = await newest(connector);
    expect(block.transactionHashes.length).toBeGreaterThanOrEqual(MANY);
    const answer = await connector.blockReceipts(block);
    expect(answer?.proven).toBe(true);
    expect(new Set(answer?.receipts.map(({ status }) => status))).toEqual(new Set(['success', 'reverted']));
    lieOnce();
    expect((await connector.blockReceipts(block))?.proven).toBe(false);
    proxy.heal();
    await chains.close();
  });

  it('a block without transactions proves that it has no receipts', async () => {
    const chains = chainsAt(proxy.url);
    await lab.mine();
    const connector = chains.get(DEV_CHAIN);
    expect(await connector.blockReceipts(await newest(connector))).toEqual({ receipts: [], proven: true });
    await chains.close();
  });

  it('what a block has proven is final without being asked for again', async () => {
    const txIds = await lab.sent(tag, tag + 1, tag + 2);
    await lab.mine();
    await lab.node.follow();
    expect(await lab.states(txIds)).toEqual(['MINED', 'MINED', 'MINED']);
    const before = asked();
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect(asked()).toBe(before);
  });

  it('a receipt that was told wrongly is read again, and fails nobody', async () => {
    const txIds = await lab.sent(tag, tag + 1);
    await lab.mine();
    lieOnce();
    await lab.node.follow();
    proxy.heal();
    const told = await Promise.all(txIds.map(async (txId) => (await lab.node.tx(txId)).receipt?.status));
    expect(told).toContain('reverted');
    const before = asked();
    await lab.confirmAll();
    expect(asked()).toBeGreaterThan(before);
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });
});

/** The other outcome for the first receipt of an answer, or the only one. */
function changed(result: unknown): unknown {
  if (Array.isArray(result)) return [changed(result[0]), ...result.slice(1)];
  const receipt = Object(result) as Record<string, unknown>;
  return { ...receipt, status: receipt['status'] === '0x1' ? '0x0' : '0x1' };
}

async function newest(connector: ChainConnector): Promise<Block> {
  const [block] = await connector.blocks([(await connector.head()).number]);
  if (!block) throw new Error('a chain has a newest block');
  return block;
}

function chainsAt(url: string): ConfiguredChains {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [{ id: DEV_CHAIN, rpcUrls: [url] }],
  });
  return new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), new RecordingLog());
}
