import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { inSlices } from '../../src/kernel/in-slices.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { RpcLab } from '../support/rpc-lab.js';
import type { SetConstants } from '../support/test-node.js';
import { RpcProxy } from '../support/rpc-proxy.js';

/** Calls per method. */
type Bill = Readonly<Record<string, number>>;

const SIGNERS = 5;
const GAS = 50_000n;
/** All at once would wait for a connection longer than a busy machine lets them. */
const CREATES_AT_ONCE = 100;

let anvil: RunningAnvil;
let proxy: RpcProxy;
let lab: RpcLab | null = null;

beforeEach(async () => {
  anvil = await startAnvil({ extraArgs: ['--no-mining'], gasLimit: 1_000_000_000 });
  proxy = await RpcProxy.listen(anvil.url);
});

afterEach(async () => {
  await lab?.close();
  lab = null;
  await proxy.stop();
  await anvil.stop();
});

async function open(required: number): Promise<RpcLab> {
  const config = { confirmations: { required }, execution: { maxInFlight: 10_000, inFlightStart: 10_000 } };
  const setConstants: SetConstants = ({ execution }) => Object.assign(execution, { batchSize: 1_000 });
  lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [proxy.url], rpcTimeout: 60_000, config, setConstants });
  return lab;
}

/** Gas limits given, spread over the signers, stored and sent. */
async function sendMany(node: RpcLab, first: number, count: number): Promise<string[]> {
  const signers = Array.from({ length: SIGNERS }, (_, index) => node.node.signer(index));
  const create = (n: number): Promise<string> => {
    const request = node.request(n);
    const signer = signers[n % SIGNERS] ?? request.signer;
    return node.create(n, { signer, payload: { ...request.payload, gasLimit: GAS } });
  };
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  const txIds: string[] = [];
  for (const some of inSlices(numbers, CREATES_AT_ONCE)) txIds.push(...(await Promise.all(some.map(create))));
  for (let sent = 0; sent < count; sent += 1_000) await node.node.step(...signers);
  return txIds;
}

async function during(work: () => Promise<void>): Promise<Bill> {
  const before = new Map(proxy.calls);
  await work();
  const spent = [...proxy.calls].map(([method, count]): [string, number] => [
    method,
    count - (before.get(method) ?? 0),
  ]);
  return Object.fromEntries(spent.filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sum(bill: Bill): number {
  return Object.values(bill).reduce((total, count) => total + count, 0);
}

it('a tx with its gas limit given costs at most 1.2 calls from create to CONFIRMED, at 200 to a block', async () => {
  const [BLOCKS, PER_BLOCK] = [10, 200];
  const node = await open(2);
  const txIds: string[] = [];
  const bill = await during(async () => {
    for (let block = 0; block < BLOCKS; block += 1) {
      txIds.push(...(await sendMany(node, block * PER_BLOCK, PER_BLOCK)));
      await node.mine();
      await node.node.follow();
      await node.node.checkReceipts();
    }
    await node.confirmAll();
  });
  expect(new Set(await node.states(txIds))).toEqual(new Set(['CONFIRMED']));
  const perTx = sum(bill) / txIds.length;
  process.stdout.write(`${perTx.toFixed(3)} calls per tx at ${PER_BLOCK} per block: ${JSON.stringify(bill)}\n`);
  expect(perTx).toBeLessThanOrEqual(1.2);
});

it('the calls that a block costs do not depend on how many wait for confirmation', async () => {
  const [FEW, MANY, BLOCKS] = [1_000, 5_000, 20];
  const node = await open(1_000);
  const bills: Bill[] = [];
  let waiting = 0;
  for (const target of [FEW, MANY]) {
    const txIds = await sendMany(node, waiting, target - waiting);
    await node.mine();
    await node.node.follow();
    waiting = target;
    expect(new Set(await node.states(txIds))).toEqual(new Set(['MINED']));
    const bill = await during(async () => {
      for (let block = 0; block < BLOCKS; block += 1) {
        await node.mine();
        await node.node.follow();
        // What the timers would do between two blocks.
        await node.node.checkReceipts();
        await node.node.resubmit();
      }
    });
    process.stdout.write(
      `${(sum(bill) / BLOCKS).toFixed(2)} calls per block with ${target} waiting for confirmation: ${JSON.stringify(bill)}\n`,
    );
    bills.push(bill);
  }
  expect(bills[1]).toEqual(bills[0]);
});
