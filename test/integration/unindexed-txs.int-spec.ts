import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { ChainFacade, type Quirk, type Quirks } from '../support/chain-facade.js';
import { RpcLab } from '../support/rpc-lab.js';

/** A node that lists a transaction in its block, and has nothing under its hash (crypto-org-chain/cronos#253, NethermindEth/nethermind#6663). */
let anvil: RunningAnvil;
let facade: ChainFacade;
let lab: RpcLab;

const nothing: Quirk = () => ({ result: null });
const UNINDEXED: Quirks = { eth_getTransactionReceipt: nothing, eth_getTransactionByHash: nothing };
const NO_BLOCK_RECEIPTS: Quirks = {
  eth_getBlockReceipts: () => ({ error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist' } }),
};
/** As nodes answer that keep the newest state only. */
const PRUNED: Quirks = {
  eth_getTransactionCount: ({ params }, ask) =>
    String(params[1]).startsWith('0x') ? { error: { code: -32000, message: 'missing trie node' } } : ask(),
};
const quirks: Record<string, Quirk> = {};

beforeEach(async () => {
  for (const method of Object.keys(quirks)) Reflect.deleteProperty(quirks, method);
  anvil = await startAnvil({ extraArgs: ['--no-mining'] });
  facade = await ChainFacade.listen(anvil.url, quirks);
  lab = await RpcLab.open({
    chainUrl: anvil.url,
    rpcUrls: [facade.url],
    config: { confirmations: { required: 2, staleReceiptTimeout: '1ms' } },
  });
});

afterEach(async () => {
  await lab.close();
  await facade.stop();
  await anvil.stop();
});

/** Blocks, between which our node looks at everything that it looks at. */
async function mine(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await lab.mine();
    await lab.node.follow();
    await lab.resubmit();
    await lab.checkReceipts();
    await lab.node.step();
  }
}

it('is MINED and CONFIRMED by the receipts of its block', async () => {
  Object.assign(quirks, UNINDEXED);
  const [txId = ''] = await lab.sent(1);
  await mine(8);
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
});

it('keeps its nonce where the node has no receipts of blocks, nor old state', async () => {
  Object.assign(quirks, UNINDEXED, NO_BLOCK_RECEIPTS, PRUNED);
  const [txId = ''] = await lab.sent(2);
  await mine(12);
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  expect(await lab.timesOnChain(2)).toEqual([1]);
});
