import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { parseHex } from '../../src/kernel/hex.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { knowNonce } from '../support/known-nonce.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

/** Anvil's `safe` is so many blocks below its head, and `finalized` twice as many. */
const EPOCH = 4;
const REVERTS = parseHex('0x60006000fd');

let anvil: RunningAnvil;
let chains: ConfiguredChains;
let database: TestDatabase;
const nodes: TestNode[] = [];

beforeAll(() => open());
afterAll(() => close());

async function open(): Promise<void> {
  anvil = await startAnvil({ chainId: DEV_CHAIN, extraArgs: ['--no-mining', '--slots-in-an-epoch', String(EPOCH)] });
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [{ id: DEV_CHAIN, rpcUrls: [anvil.url] }],
  });
  chains = new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), new RecordingLog());
  // Above genesis, below which no tag lies.
  await mineBlocks(3 * EPOCH);
}

async function close(): Promise<void> {
  await chains.close();
  await anvil.stop();
}

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await database.drop();
});

async function mineBlocks(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await callRpc(anvil.url, 'evm_mine', []);
}

async function aNode(confirmations: object): Promise<TestNode> {
  const node = await TestNode.start(database.url, chains.get(DEV_CHAIN), { confirmations });
  nodes.push(node);
  await knowNonce(node, anvil.url);
  return node;
}

/** One that reverts on chain, one as the chain has it, and one with confirmations of its own; in this order, in one block. */
async function mineThree(node: TestNode, own: number): Promise<string[]> {
  const base = aRequest({ signer: node.signer() });
  const create = async (overrides: Partial<TxRequest>): Promise<string> =>
    (await node.create({ ...base, ...overrides })).txId;
  const plain = { ...base.payload, value: 0n, gasLimit: 100_000n };
  const ids = [
    await create({ requestId: 'reverts', payload: { ...plain, to: null, data: REVERTS } }),
    await create({ requestId: 'plain', payload: plain }),
    await create({ requestId: 'own', payload: plain, confirmations: own }),
  ];
  await node.step();
  await mineBlocks(1);
  await node.follow();
  return ids;
}

async function statesOf(node: TestNode, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (txId) => (await node.tx(txId)).state));
}

/** Number of further blocks with which each left MINED. */
async function heights(node: TestNode, ids: readonly string[]): Promise<number[]> {
  const left = ids.map(() => -1);
  for (let depth = 0; left.includes(-1) && depth < 30; depth += 1) {
    if (depth > 0) {
      await mineBlocks(1);
      await node.follow();
    }
    const states = await statesOf(node, ids);
    states.forEach((state, n) => {
      if (state !== 'MINED' && left[n] === -1) left[n] = depth;
    });
  }
  return left;
}

describe('on a real node', () => {
  it('safe and finalized lag behind the head by a fixed number of blocks', async () => {
    const chain = chains.get(DEV_CHAIN);
    for (const extra of [0, 1]) {
      await mineBlocks(extra);
      const head = await chain.head();
      expect((await chain.taggedHead('safe'))?.number).toBe(head.number - EPOCH);
      expect((await chain.taggedHead('finalized'))?.number).toBe(head.number - 2 * EPOCH);
    }
  });

  // Of one endpoint the head counts when a later block was seen, so everything is final a block later.
  it.each([
    ['by depth', { finality: 'depth', required: 2 }, 1, [2, 2, 1]],
    ['by depth, with more of its own', { finality: 'depth', required: 2 }, 5, [2, 2, 5]],
    ['by safe', { finality: 'safe', required: 2 }, 1, [EPOCH, EPOCH, EPOCH]],
    ['by safe, with more of its own', { finality: 'safe', required: 2 }, 6, [EPOCH, EPOCH, 6]],
    ['by finalized', { finality: 'finalized', required: 2 }, 6, [2 * EPOCH, 2 * EPOCH, 2 * EPOCH]],
  ])('success and revert alike are final %s, and one block later', async (_words, confirmations, own, deepEnough) => {
    const node = await aNode(confirmations);
    const ids = await mineThree(node, own);
    expect(await heights(node, ids)).toEqual(deepEnough.map((blocks) => blocks + 1));
    expect(await statesOf(node, ids)).toEqual(['FAILED', 'CONFIRMED', 'CONFIRMED']);
    expect((await node.tx(ids[0] ?? '')).receipt?.status).toBe('reverted');
  });
});
