import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Transaction } from 'ethers';
import { TxHistory } from '../../src/modules/events/index.js';
import { blocks, changing, changingEach, type Fields, receipts } from '../families/family.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { ChainFacade, type Quirk, type Quirks } from '../support/chain-facade.js';
import { RpcLab } from '../support/rpc-lab.js';

/** What nodes answer, as public trackers tell of it (docs/public-cases.md), through the whole of our node, in front of anvil. */
let anvil: RunningAnvil;
let facade: ChainFacade;
let lab: RpcLab;
let tag = 0;
const quirks: Record<string, Quirk> = {};

beforeAll(async () => {
  anvil = await startAnvil({ extraArgs: ['--no-mining'] });
  facade = await ChainFacade.listen(anvil.url, quirks);
  // Endpoints are asked for it once, at first.
  quirks['eth_chainId'] = changing(inNumber);
  lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [facade.url] });
});

afterEach(() => mend());

afterAll(async () => {
  await lab.close();
  await facade.stop();
  await anvil.stop();
});

const answers = (some: Quirks): unknown => Object.assign(quirks, some);

function mend(): void {
  for (const method of Object.keys(quirks)) Reflect.deleteProperty(quirks, method);
}

/** Blocks, each of which our node sees. */
async function mine(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await lab.mine();
    await lab.node.follow();
    await lab.node.step();
  }
}

const sent = (count: number): Promise<string[]> => lab.sent(...Array.from({ length: count }, () => (tag += 1)));
const reasons = async (txId = ''): Promise<string[]> =>
  (await lab.node.get(TxHistory).of(txId)).map(({ reason }) => reason);

async function expectConfirmedInSix(txIds: readonly string[]): Promise<void> {
  await mine(6);
  await expectConfirmedOnce(txIds);
}

async function expectConfirmedOnce(txIds: readonly string[]): Promise<void> {
  expect(new Set(await lab.states(txIds))).toEqual(new Set(['CONFIRMED']));
  const tags = txIds.map((_, index) => tag - index);
  expect(await lab.timesOnChain(...tags)).toEqual(tags.map(() => 1));
}

/** A quantity as a JSON number, as far as JavaScript does not round it. */
const inNumber = (value: unknown): unknown => (/^0x[\da-f]{1,13}$/.test(String(value)) ? Number(value) : value);
const inNumbers = (of: Fields): Fields =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, inNumber(value)]));
const COUNTS = ['eth_blockNumber', 'eth_getTransactionCount', 'eth_getBalance', 'eth_estimateGas'];

it('K0 LFDT-web3j/web3j#880, openethereum/parity-ethereum#2442: a pending count below that of the latest block', async () => {
  const eth_getTransactionCount: Quirk = ({ params }, ask) => (params[1] === 'pending' ? { result: '0x0' } : ask());
  answers({ eth_getTransactionCount });
  await expectConfirmedInSix(await sent(1));
  await expectConfirmedInSix(await sent(2));
});

it('K1 Taraxa-project/taraxa-node#1876, trufflesuite/ganache#400: numbers that are JSON numbers', async () => {
  answers({ ...receipts(inNumbers), ...blocks(inNumbers) });
  for (const method of COUNTS) answers({ [method]: changing(inNumber) });
  await lab.node.follow();
  await expectConfirmedInSix(await sent(2));
});

it('K2 NethermindEth/nethermind#3541, oasisprotocol/oasis-web3-gateway#80: receipts that name a block that nobody shows', async () => {
  const otherBlock = (receipt: Fields): Fields => ({ ...receipt, blockHash: `0x${'5e'.repeat(32)}` });
  answers(receipts(otherBlock));
  const txIds = [...(await sent(1)), ...(await sent(2))];
  await mine(6);
  await lab.checkReceipts();
  expect(new Set(await lab.states(txIds))).toEqual(new Set(['IN_MEMPOOL']));
  mend();
  await lab.checkReceipts();
  await expectConfirmedInSix(txIds);
  expect(await reasons(txIds[0])).not.toContain('reorg_detected');
});

it('K3 cosmos/evm#1280: receipts of a block that say of what was executed that it reverted', async () => {
  answers({ eth_getBlockReceipts: changingEach((receipt) => ({ ...receipt, status: '0x0' })) });
  const txIds = await sent(2);
  await mine(8);
  expect(new Set(await lab.states(txIds))).toEqual(new Set(['MINED']));
  mend();
  await mine(3);
  await expectConfirmedOnce(txIds);
});

it('K3 XinFinOrg/XDPoSChain#162, OffchainLabs/arbitrum-classic#2313: a hash in two blocks, and executed in the second one', async () => {
  facade.hold();
  const [txId = ''] = await sent(1);
  const { hash, from } = Transaction.from(facade.held.at(-1) ?? '');
  let first: Fields = {};
  const copy = (): Fields => ({
    ...{ transactionHash: hash, from, status: '0x0', gasUsed: '0x0', transactionIndex: '0x0', logs: [] },
    ...{ blockHash: first['hash'], blockNumber: first['number'] },
  });
  const inFirst = changing((block) => {
    if (first['hash'] === undefined) first = block;
    const transactions = block['transactions'] as unknown[];
    return block['hash'] === first['hash'] ? { ...block, transactions: [...transactions, hash] } : block;
  });
  await lab.mine();
  answers({
    eth_getBlockByNumber: inFirst,
    eth_getBlockByHash: inFirst,
    eth_getTransactionReceipt: async (_call, ask) => {
      const answer = await ask();
      return 'result' in answer && answer.result === null ? { result: copy() } : answer;
    },
  });
  await lab.node.follow();
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', receipt: { status: 'reverted' } });
  await facade.release();
  await mine(6);
  await lab.checkReceipts();
  await expectConfirmedInSix([txId]);
  expect((await lab.node.tx(txId)).receipt).toMatchObject({ status: 'success' });
});
